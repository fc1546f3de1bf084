"""Align the module trees of several models: corresponding modules share a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from archcalc.core.ir import Module


@dataclass(frozen=True)
class Part:
    """A module of one model: its number of copies, and the total of the metric over all of them."""

    title: str
    group: str
    times: int
    value: int
    children: Mapping[str, Part]


@dataclass(frozen=True)
class Row:
    """One row of the comparison. A model without this module has None, which counts as 0 in a difference."""

    path: str
    titles: tuple[str, ...]
    times: tuple[int | None, ...]
    values: tuple[int | None, ...]
    equal: bool  # in all models, down to the last part of it
    whole: bool  # all there is of the row above: shown, it would only repeat it

    @property
    def title(self) -> str:
        """Two names where a part goes by two: `decoder / encoder`."""
        return " / ".join(self.titles)

    @property
    def depth(self) -> int:
        """How far down the tree; the parts of the model itself are at 0."""
        return self.path.count(".")

    @property
    def lonely(self) -> bool:
        """Whether only one model has it, so that there is nothing to compare."""
        return len(self.values) - self.values.count(None) == 1

    @property
    def difference(self) -> tuple[int, ...]:
        """From the first model to each of the others."""
        first, *others = (value or 0 for value in self.values)
        return tuple(other - first for other in others)

    @property
    def ratio(self) -> tuple[Fraction | None, ...]:
        """Of each of the others to the first model; None where either has no such part or nothing in it."""
        first, *others = self.values
        return tuple(Fraction(other, first) if first and other is not None else None for other in others)


def part_of(module: Module, values: Mapping[str, int]) -> Part:
    """The tree below a module, as far as `values` knows its paths."""
    children = {child.name: part_of(child, values) for child in _with_paths(module) if child.path in values}
    return Part(
        module.words.title, module.group or "", int(module.repeat), int(values[module.path or "model"]), children
    )


def _with_paths(module: Module) -> Iterator[Module]:
    """Its children; those of a section, which has no path of its own, in the section's place."""
    for child in module.children:
        if child.is_section:
            yield from _with_paths(child)
        else:
            yield child


def aligned(models: Sequence[Part]) -> list[Row]:
    """The models themselves, then every part that any of them has, in the order of their forward passes.

    Modules of a group that every model has once, such as its blocks, are aligned even if their names differ."""
    groups = [[part.group for part in model.children.values()] for model in models]
    alone = {group for group in groups[0] if group and all(each.count(group) == 1 for each in groups)}
    names = {part.group: name for name, part in models[0].children.items() if part.group in alone}
    parts = [
        replace(model, children={names.get(part.group, name): part for name, part in model.children.items()})
        for model in models
    ]
    return [_row("model", parts, None), *_rows("", parts)]


def _rows(above: str, parts: Sequence[Part | None]) -> Iterator[Row]:
    for name in _union([list(part.children) for part in parts if part]):
        path = f"{above}.{name}".removeprefix(".")
        below = [part and part.children.get(name) for part in parts]
        yield _row(path, below, parts if above else None)
        yield from _rows(path, below)


def _row(path: str, parts: Sequence[Part | None], above: Sequence[Part | None] | None) -> Row:
    times = tuple(part.times if part else None for part in parts)
    values = tuple(part.value if part else None for part in parts)
    titles = dict.fromkeys(part.title for part in parts if part)
    whole = above is not None and {*times} == {1} and values == tuple(part.value if part else None for part in above)
    return Row(path, tuple(titles), times, values, all(part == parts[0] for part in parts), whole)


def _union(lists: Sequence[list[str]]) -> list[str]:
    """All names once. What only a later list has goes behind what it stands behind there; at the front, before it."""
    names: list[str] = []
    for ordered in lists:
        place = next((names.index(name) for name in ordered if name in names), len(names))
        for name in ordered:
            if name not in names:
                names.insert(place, name)
            place = max(place, names.index(name) + 1)  # two models may have the same parts in another order
    return names
