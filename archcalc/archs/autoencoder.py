"""Autoencoders: the linear one, and the recursive one that folds a sentence of n words up a tree into one vector.

kind: linear       x̂ = W2·W1·x; biases only if asked for
kind: recursive    p = tanh(W1·[left; right] + b1), rebuilt by W2 and b2; `classes` adds a classifier, W3 and b3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Dim, Module, axes
from archcalc.layers.autoencoder import Merge, linear_autoencoder
from archcalc.layers.dims import sequence_of
from archcalc.layers.loss import squared_error
from archcalc.spec.defaults import Default
from archcalc.spec.gathering import STAND_IN, tell
from archcalc.spec.node import ModelSpec, Size, field
from archcalc.spec.workload import Longest, Workload

ONE_MERGE = 2  # words, in the smallest tree
_EVERY = frozenset(ModelSpec.model_fields)


class Spec(ModelSpec):
    """An autoencoder's fields as written in a spec."""

    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "linear": _EVERY - {"seq"} | {"input", "hidden", "bias"},
        "recursive": _EVERY | {"input", "hidden", "bias", "classes"},
    }
    family: Literal["autoencoder"] = field("autoencoder", "The family of autoencoders.", example="autoencoder")
    kind: Literal["linear", "recursive"] | None = field(
        None,
        "A linear autoencoder, or a recursive one that folds a sentence up a tree.",
        example="recursive",
        unset="needed",
    )
    input: Size | None = field(None, "The width of a sample, or of a word's vector.", example=784, unset="needed")
    hidden: Size | None = field(None, "The width of the code, or of a parent in the tree.", example=32, unset="needed")
    bias: bool | None = field(
        None, "Its layers have biases.", example=True, unset="true for recursive, false for linear"
    )
    classes: Size | None = field(
        None, "Recursive: classes of a classifier at every parent.", example=2, unset="no classifier"
    )


@dataclass(frozen=True)
class Autoencoder:
    """Every value filled in."""

    kind: str
    input: int
    hidden: int
    bias: bool
    classes: int | None

    @property
    def lengths(self) -> dict[str, Longest]:
        """The size of a tree depends on the sentence length; a linear autoencoder takes one vector at a time."""
        return {"seq": Longest()} if self.kind == "recursive" else {}


def resolve(spec: Spec) -> Autoencoder:
    """Fills in defaults, or raises an error for what is missing."""
    if spec.kind is None:
        fields: list[Path] = [("kind",), ("family",)]
        raise InputError("kind is missing", "write `kind: linear` or `kind: recursive`", fields=fields)
    if spec.kind == "linear":
        _check_linear(spec)
    sample, code = ("a sample", "the code") if spec.kind == "linear" else ("a word's vector", "a parent")
    model = Autoencoder(
        kind=spec.kind,
        input=_needed(spec, "input", f"the width of {sample}"),
        hidden=_needed(spec, "hidden", f"the width of {code}"),
        bias=spec.kind == "recursive" if spec.bias is None else spec.bias,
        classes=spec.classes,
    )
    if spec.kind == "recursive":
        _check_tree(model, spec.seq)
    return model


def _needed(spec: Spec, field: str, meaning: str) -> int:
    size: int | None = getattr(spec, field)
    if size is None:
        tell(InputError("missing", f"give {meaning}", fields=[("kind",)], field=field))
        return STAND_IN
    return size


def _check_linear(spec: Spec) -> None:
    if spec.classes:
        hint = "take it out, or use `kind: recursive`, which has one at every parent"
        raise InputError("a linear autoencoder has no classifier", hint, fields=[("classes",)])
    if spec.seq:
        hint = "take it out; `batch` says how many vectors are read at once"
        raise InputError("a linear autoencoder reads vectors, not sequences", hint, fields=[("seq",)])


def _check_tree(model: Autoencoder, words: int | None) -> None:
    """A parent becomes a child of the next merge, so widths must match unless the tree has a single merge."""
    if words == 1:
        hint = f"use a seq of {ONE_MERGE} or more"
        raise InputError("one word has no neighbour to merge with", hint, fields=[("seq",)])
    if model.hidden != model.input and words != ONE_MERGE:
        fact = f"a parent is {model.hidden} wide, but a merge takes children of {model.input}: none can be merged again"
        hint = f"set hidden to {model.input}, or input to {model.hidden}; else no tree has more than {ONE_MERGE} words"
        raise InputError(fact, hint, fields=[("hidden",), ("input",)])


def defaults(spec: Spec, model: Autoencoder) -> tuple[Default, ...]:
    """What it takes for fields that its spec leaves out."""
    return Default(("bias",), model.bias, "biases" if model.bias else "no biases"), Default(("precision",), "fp32")


def build(model: Autoencoder, work: Workload) -> Module:
    """Record the forward pass."""
    if work.decodes:
        hint = "use --mode train or prefill"
        raise InputError("an autoencoder generates no tokens, so it has no decode step", hint, field="--mode")
    root = Module("model")
    record = _linear if model.kind == "linear" else _recursive
    record(root, model, work)
    return root


def _linear(root: Module, model: Autoencoder, work: Workload) -> None:
    sample = axes(Dim.of("batch", work.batch), Dim.of("input", model.input))
    x = root.record("input", to=sample, name="input", note="one sample a row")
    rebuilt = linear_autoencoder(root, x, Dim.of("hidden", model.hidden), bias=model.bias)
    if work.trains:
        squared_error(root, rebuilt, x)


def _recursive(root: Module, model: Autoencoder, work: Workload) -> None:
    """A binary tree over n leaves has n - 1 inner nodes, each of them one call of the same merge."""
    _check_tree(model, work.lengths["seq"])
    seq = sequence_of("seq", work.lengths["seq"])
    leaves = axes(Dim.of("batch", work.batch), seq, Dim.of("input", model.input))
    words = root.record("input", to=leaves, name="words", note=f"the leaves of a tree: {seq.size:,} vectors")
    m = root["merge"]
    m.calls = seq.size - Count(1)
    parent = Merge(model.hidden, model.classes, model.bias).run(m, words, work)
    root.record("view", parent, name="root", note="the root: the last parent")
    classifies = "; the classifier reads every parent" if model.classes else ""
    merges = f"{m.calls:,} {'merge' if m.calls == 1 else 'merges'}"
    text = f"{seq.size:,} words take {merges}{classifies}"
    root.notes.append(Assumption(Topic.ARCHITECTURE, text, int(seq.size)))
