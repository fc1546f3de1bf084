"""The blanks of a worksheet: which figures are asked, in which order, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from archcalc.analyze.shapes import Row
from archcalc.core.ir import walk
from archcalc.exercises.counts import flops_steps, memory_steps, parameter_steps, sums_of_parts
from archcalc.exercises.labels import Label, listed, titles_of, told_apart, within
from archcalc.exercises.steps import Step, in_order
from archcalc.model import Model

QUESTIONS = ("params", "shapes", "flops", "memory")
Shape = tuple[int, ...]
Titles = Mapping[str, str]  # of modules, by their paths


@dataclass(frozen=True)
class Blank:
    """One asked figure: a number with the step that gives it, or a shape with the names of its axes."""

    question: str
    number: str  # P3: the third of the parameters
    name: str  # encoder.block.attention.out
    label: str
    answer: int | Shape
    working: str = ""
    step: Step | None = None
    axes: tuple[str, ...] = ()


def blanks(model: Model, questions: Iterable[str], depth: int | None = None) -> tuple[Blank, ...]:
    """`depth` is how many levels of the tree are asked about; all of them, if it is not given."""
    return tuple(blank for question in questions for blank in _blanks(model, question, depth))


def _blanks(model: Model, question: str, depth: int | None) -> list[Blank]:
    if question == "shapes":
        return _shapes(model, depth)
    steps = _steps(model, question)
    titles = {} if question == "memory" else titles_of(model.build())
    asked = [one for one in _asked(steps, titles) if _within(one[0].name, depth)]
    labels = told_apart([label for _, label in asked])
    numbered = enumerate(zip(asked, labels, strict=True), start=1)
    return [
        Blank(question, f"{question[0].upper()}{place}", step.name, label, step.value(), step.count.worked(), step)
        for place, ((step, _), label) in numbered
    ]


def _within(name: str, depth: int | None) -> bool:
    return depth is None or name.count(".") < depth


def figures(model: Model, questions: Iterable[str]) -> dict[tuple[str, str], int | Shape]:
    """Every figure by its question and name, equal ones too."""
    found: dict[tuple[str, str], int | Shape] = {}
    for question in questions:
        if question == "shapes":
            found |= {(question, row.path): row.shape for row in model.shapes().rows}
        else:
            found |= {(question, step.name): step.value() for step in _steps(model, question)}
    return found


def _steps(model: Model, question: str) -> list[Step]:
    """The figures of a question, the smaller ones before those that are made of them."""
    if question == "memory":
        return memory_steps(model)
    if question == "flops":
        return list(in_order(flops_steps(model.build(model.workload(mode="prefill")))))
    root = model.build()
    *smaller, whole = in_order(parameter_steps(root))
    return [*smaller, *sums_of_parts(root, whole), whole]


def _asked(steps: Iterable[Step], titles: Titles) -> list[tuple[Step, Label]]:
    """Equal figures once, under all their titles; what is all there is of another is not asked apart from it."""
    every = list(steps)
    only = {step.wraps.name for step in every if step.wraps}
    groups: list[list[Step]] = []
    for step in (step for step in every if step.name not in only):
        # Beside an equal figure of the same layer, or of the same title in another layer; else by itself.
        for group in groups:
            near = group[0].name.rpartition(".")[0] == step.name.rpartition(".")[0]
            alike = (group[0].key, group[0].is_share) == (step.key, step.is_share)
            if alike and (near or any(step.title == other.title for other in group)):
                group.append(step)
                break
        else:
            groups.append([step])
    names = {step.name for step in every}
    return [(group[0], Label(_title(group, names), within(group[0].name, titles, only))) for group in groups]


def _title(group: list[Step], names: set[str]) -> str:
    first, titles = group[0], {step.title for step in group}
    title, way = first.title, first.ways[0]
    if len(titles) > 1:
        title = f"{listed([step.title for step in group])}, each"
    elif not way.terms and len(way.children) == 1:  # a stack that holds nothing but its blocks says how many
        times, inner = way.children[0]
        title += f" ({times} × {inner.title})" if times > 1 and inner.name in names else ""
    if first.copies > 1 and len(group) == 1:
        return f"{title}, one of {first.copies:,}"
    return title


def _shapes(model: Model, depth: int | None) -> list[Blank]:
    """Every signal that `archcalc shapes` lists; those of equal layers once."""
    report = model.shapes()
    rows, titles = report.rows, {path: part.title for path, part in report.parts.items()}
    same = _equal_layers(rows)
    asked = [row for row in rows if _layer(row) in same and _within(row.path, depth)]
    labels = told_apart([_signal(row, same[_layer(row)], titles) for row in asked])
    # The dims, and how the sides of a map are worked out by the module that convolves or pools.
    sides = {
        module.path: [side.worked for op in module.ops for side in op.windows] for module, _ in walk(model.build())
    }
    workings = {row.path: [" × ".join(row.dims), *dict.fromkeys(sides.get(row.path, ()))] for row in asked}
    numbered = enumerate(zip(asked, labels, strict=True), start=1)
    return [
        Blank("shapes", f"S{place}", row.path, label, row.shape, "\n".join(workings[row.path]), axes=row.dims)
        for place, (row, label) in numbered
    ]


def _layer(row: Row) -> str:
    return row.path.rpartition(".")[0]


def _equal_layers(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Layers whose signals are all alike, by the first of them."""
    layers: dict[str, list[Row]] = {}
    for row in rows:
        layers.setdefault(_layer(row), []).append(row)
    equal: dict[object, list[str]] = {}
    for path, own in layers.items():
        equal.setdefault(tuple((row.title, row.note, row.shape) for row in own), []).append(path)
    return {paths[0]: paths for paths in equal.values()}


def _signal(row: Row, layers: list[str], titles: Titles) -> Label:
    title = f"{row.title} ({row.note})" if row.note else row.title
    around = within(row.path, titles)
    return Label(title, (*around[:-1], listed([titles[path] for path in layers])) if around else ())
