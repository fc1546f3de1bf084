"""A worksheet: a model in words, the figures that are asked of it, and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from archcalc.core.assumptions import Topic
from archcalc.core.errors import InputError, Path, did_you_mean
from archcalc.core.ir import Module, walk
from archcalc.core.tree import ops_in
from archcalc.exercises.blanks import QUESTIONS, Blank, blanks
from archcalc.exercises.counts import parameter_steps
from archcalc.exercises.labels import Label, titles_of, within
from archcalc.exercises.steps import in_order
from archcalc.exercises.variation import data_of, varied, with_sizes
from archcalc.model import Model
from archcalc.spec.defaults import left_out
from archcalc.spec.fields import node_at

USUAL = ("params", "shapes")  # the questions of the course's sheet
NOT_GIVEN = frozenset({"name", "about", "source", "hub", "released", "published", "notes"})
NOT_GIVEN |= {"family", "scope", "quantization"}
NOT_GIVEN |= {"fused_qkv", "softmax", "spare"}  # how a file or a kernel keeps things, which no question is about


class Given(NamedTuple):
    """A field of the spec as the page shows it."""

    field: str
    value: str
    meaning: str


class Section(NamedTuple):
    """The blanks of one question."""

    question: str
    blanks: tuple[Blank, ...]


@dataclass(frozen=True)
class Sheet:
    model: Model
    seed: int | None
    questions: tuple[str, ...]
    blanks: tuple[Blank, ...]
    depth: int | None = None  # levels of the tree that are asked about

    @property
    def title(self) -> str:
        return self.model.name

    @property
    def sizes(self) -> dict[str, int]:
        """Of the input: batch, and the lengths that may be chosen."""
        work, limits = self.model.workload(), self.model.resolved.lengths
        chosen = {name: length for name, length in work.lengths.items() if not limits[name].fixed}
        return {"batch": work.batch, **chosen}

    @property
    def given(self) -> list[Given]:
        """Every field that the spec sets, by its path, and the choices that it leaves to the family."""
        fields = {name: value for name, value in data_of(self.model).items() if name not in NOT_GIVEN}
        choices = [each for each in left_out(self.model.spec, self.model.defaults) if each.words]
        written = [*_flat(fields, ()), *((each.field, _words(each.value)) for each in choices)]
        given = []
        for path, value in written:
            # Items of a list are counted from 1, as people do: `layers 3`.
            field = "".join(f" {key}" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
            node = node_at(type(self.model.spec), path[:-1])
            info = node.model_fields.get(str(path[-1])) if node else None
            given.append(Given(field, value, (info.description if info else None) or ""))
        return given

    @property
    def conventions(self) -> list[str]:
        """What the givens leave open: biases, shared weights, and what reports say of the model itself."""
        report = self.model.params()
        noted = [note.text for note in report.assumptions if note.topic == Topic.ARCHITECTURE]
        tied = [f"{row.path} uses the weights of {row.tied_to}" for row in report.rows if row.tied_to]
        return [*biases(self.model.build()), *tied, *noted]

    @property
    def sections(self) -> list[Section]:
        grouped = groupby(self.blanks, key=lambda blank: blank.question)
        return [Section(question, tuple(found)) for question, found in grouped]


def sizes_of(root: Module) -> dict[str, int]:
    """Every size of a model by the name of its dim, also of dims that are kept together: heads·head_dim."""
    found: dict[str, int] = {}
    params = [param for module, _ in walk(root) for param in module.params.values()]
    for tensor in (*params, *(op.output for op in ops_in(root))):
        axes = ("·".join(dim.name for dim in axis) for axis in tensor.axes)
        sizes = [*((dim.name, int(dim.size)) for dim in tensor.dims), *zip(axes, tensor.shape, strict=True)]
        found |= {name: size for name, size in sizes if size > 1}
    return found


def worksheet(
    model: Model, *, seed: int | None = None, questions: Sequence[str] = USUAL, depth: int | None = None
) -> Sheet:
    """The exercise of a model, or of one like it in other sizes."""
    if not questions:
        raise InputError("nothing is asked", f"choose from: {', '.join(QUESTIONS)}", field="--questions")
    for question in questions:
        if question not in QUESTIONS:
            raise InputError(f"no question called {question}", did_you_mean(question, QUESTIONS), field="--questions")
    if model.spec.family == "weights":
        hint = "give the model's config.json or a spec"
        raise InputError("a list of tensors is no model to ask questions about", hint, field=model.name)
    sized = with_sizes(model)
    chosen = sized if seed is None else varied(sized, seed)
    return Sheet(chosen, seed, tuple(questions), blanks(chosen, questions, depth), depth)


def _flat(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """`ffn.width` and `512`, for every field within fields; a list of layers has a line for each."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, (*path, key))
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        yield from _flat(value[0], path)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        yield from (((*path, place), _words(inner)) for place, inner in enumerate(value, start=1))
    else:
        yield path, _words(value)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(inner)}" for key, inner in value.items()) or "as above"
    if isinstance(value, list):
        return f"[{', '.join(str(one) if isinstance(one, int) else _words(one) for one in value)}]"
    return f"{value:,}" if isinstance(value, int) else str(value)


def biases(root: Module) -> list[str]:
    """In a sentence, from the tensors themselves: a matrix with a vector beside it has a bias."""
    titles = titles_of(root)
    steps = [step for step in in_order(parameter_steps(root)) if not step.is_share]
    axes = {step.name: [term.axes for term in step.ways[0].terms] for step in steps}
    layers = [step for step in steps if max(axes[step.name], default=0) > 1]
    labels = [Label(step.title, within(step.name, titles)).text(1) for step in layers]
    has_one = {label: 1 in axes[step.name] for label, step in zip(labels, layers, strict=True)}
    biased, bare = ([label for label in has_one if has_one[label] is wanted] for wanted in (True, False))
    if not layers:
        return []
    if not biased:
        return ["no layer has a bias"]
    if not bare:
        return ["every layer with a matrix has a bias"]
    if len(bare) <= len(biased):  # the shorter list is written out
        return [f"every layer with a matrix has a bias, except {', '.join(bare)}"]
    return [f"no layer has a bias, except {', '.join(biased)}"]
