"""From the spec as written to an autoencoder with every value filled in, or the reason why it cannot be one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from archcalc.archs.autoencoder.spec import OWN_FIELDS, Spec
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError, Path
from archcalc.spec.defaults import Default
from archcalc.spec.gathering import STAND_IN, needed, tell
from archcalc.spec.node import as_tuple
from archcalc.spec.workload import Longest

ONE_MERGE = 2  # words, in the smallest tree
ALONE = "one word has no neighbour to merge with"
SMALL = 16  # a width of the small twin
_SAMPLES = {"linear": ("a sample", "the code"), "recursive": ("a word's vector", "a parent")}


@dataclass(frozen=True)
class Autoencoder:
    """A linear or recursive one."""

    kind: str
    input: int
    hidden: int
    bias: bool
    classes: int | None

    @property
    def lengths(self) -> dict[str, Longest]:
        """The size of a tree depends on the sentence length; a linear autoencoder takes one vector at a time."""
        return {"seq": Longest(least=ONE_MERGE, because=ALONE)} if self.kind == "recursive" else {}


@dataclass(frozen=True)
class LayeredAutoencoder:
    """A deep or variational one: `encoder` ends with the code's width, `decoder` with the input's."""

    kind: str
    input: int
    encoder: tuple[int, ...]
    decoder: tuple[int, ...]
    bias: bool
    act: str
    code_act: str
    output_act: str
    tied: bool
    loss: str

    @property
    def lengths(self) -> dict[str, Longest]:
        """It reads vectors, not sequences."""
        return {}

    def made_small(self, original: LayeredAutoencoder) -> LayeredAutoencoder:
        """Widths that can be run; equal ones stay equal."""
        every = dict.fromkeys((original.input, *original.encoder, *original.decoder))
        small = {width: min(width, SMALL + index) for index, width in enumerate(every)}
        encoder, decoder = (tuple(small[width] for width in side) for side in (original.encoder, original.decoder))
        return replace(self, input=small[original.input], encoder=encoder, decoder=decoder)


def resolve(spec: Spec) -> Autoencoder | LayeredAutoencoder:
    """Fills in defaults, or raises an error for what is missing."""
    if spec.kind is None:
        fields: list[Path] = [("kind",), ("family",)]
        hint = "write `kind: linear`, `kind: deep`, `kind: variational` or `kind: recursive`"
        raise InputError("kind is missing", hint, fields=fields)
    if spec.classes and spec.kind != "recursive":
        hint = "take it out, or use `kind: recursive`, which has one at every parent"
        raise InputError(f"a {spec.kind} autoencoder has no classifier", hint, fields=[("classes",)])
    if spec.seq and spec.kind != "recursive":
        hint = "take it out; `batch` says how many vectors are read at once"
        raise InputError(f"a {spec.kind} autoencoder reads vectors, not sequences", hint, fields=[("seq",)])
    for field in OWN_FIELDS:  # refuse one that another kind has, and name that kind
        if field in spec.model_fields_set and field not in {"kind", *spec.fields_of[spec.kind]}:
            others = " or ".join(f"`kind: {other}`" for other, fields in spec.fields_of.items() if field in fields)
            hint = f"take it out, or use {others}, which has it"
            tell(InputError(f"a {spec.kind} autoencoder has no {field}", hint, fields=[(field,)]))
    return _layered(spec, spec.kind) if spec.kind in ("deep", "variational") else _plain(spec, spec.kind)


def _plain(spec: Spec, kind: str) -> Autoencoder:
    sample, code = _SAMPLES[kind]
    if isinstance(spec.hidden, tuple):
        fact = f"a {kind} autoencoder has one hidden width, not {len(spec.hidden)}"
        raise InputError(fact, "use `kind: deep` for several layers", fields=[("hidden",)])
    model = Autoencoder(
        kind=kind,
        input=needed(spec.input, "input", f"give the width of {sample}", ("kind",)),
        hidden=needed(spec.hidden, "hidden", f"give the width of {code}", ("kind",)),
        bias=kind == "recursive" if spec.bias is None else spec.bias,
        classes=spec.classes,
    )
    if kind == "recursive":
        check_tree(model, spec.seq)
    return model


def _layered(spec: Spec, kind: str) -> LayeredAutoencoder:
    width = needed(spec.input, "input", "give the width of a sample", ("kind",))
    hidden = spec.hidden
    if hidden is None:
        hint = "give the encoder's widths, the code's last, such as `hidden: [500, 20]`"
        tell(InputError("missing", hint, fields=[("kind",)], field="hidden"))
    encoder: tuple[int, ...] = as_tuple(hidden or STAND_IN)
    between = mirrored = tuple(map(Derived, reversed(encoder[:-1])))
    if spec.decoder is not None:
        between = as_tuple(spec.decoder)
    if spec.tied and between != mirrored:
        fact = "tied matrices need a decoder that mirrors the encoder"
        raise InputError(fact, "take decoder out, or tied", fields=[("decoder",), ("tied",)])
    if spec.loss == "bernoulli" and spec.output_act != "sigmoid":  # pixels as probabilities are between 0 and 1
        fact = f"a Bernoulli loss takes probabilities, and {spec.output_act} gives none"
        raise InputError(fact, "write `output_act: sigmoid`, or use `loss: squared`", fields=[("loss",)])
    return LayeredAutoencoder(
        kind=kind,
        input=width,
        encoder=encoder,
        decoder=(*between, Derived(width)),
        bias=spec.bias is not False,
        act=spec.act,
        code_act=spec.code_act,
        output_act=spec.output_act,
        tied=spec.tied,
        loss=spec.loss or ("bernoulli" if spec.output_act == "sigmoid" else "squared"),
    )


def check_tree(model: Autoencoder, words: int | None) -> None:
    """A parent becomes a child of the next merge, so widths must match unless the tree has a single merge."""
    if words == 1:
        hint = f"use a seq of {ONE_MERGE} or more"
        raise InputError(ALONE, hint, fields=[("seq",)])
    if model.hidden != model.input and words != ONE_MERGE:
        fact = f"a parent is {model.hidden} wide, but a merge takes children of {model.input}: none can be merged again"
        hint = f"set hidden to {model.input}, or input to {model.hidden}; else no tree has more than {ONE_MERGE} words"
        raise InputError(fact, hint, fields=[("hidden",), ("input",)])


def defaults(spec: Spec, model: Autoencoder | LayeredAutoencoder) -> Iterator[Default]:
    """What it takes for fields that its spec leaves out."""
    yield Default(("bias",), model.bias, "biases" if model.bias else "no biases")
    if isinstance(model, LayeredAutoencoder):
        # without words: every report names the activations and the loss
        if len(model.decoder) > 1:
            yield Default(("decoder",), list(model.decoder[:-1]), "the encoder's widths mirrored")
        for field in ("act", "output_act", "loss"):
            yield Default((field,), getattr(model, field))
        if model.kind == "deep":
            yield Default(("code_act",), model.code_act)
            yield Default(("tied",), model.tied)
    yield Default(("precision",), "fp32")
