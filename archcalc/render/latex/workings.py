r"""Workings as equations in groups, and the labels that tell their numbers apart.

Each larger part of the model, such as a block, has a group of its own with a heading. A part goes by its name in the
sums above it; where two of one name come to different numbers, what they belong to stands in front:
$P_{\text{ffn, out}}$.
Names of parts with a group hold everywhere, all others within their group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from archcalc.core.expression import Expression, Leaf, leaves
from archcalc.render.page import Grid
from archcalc.report.table import Working

LEVELS = 2  # of parts with a working below a part that gets a group of its own

Path = tuple[str, ...]  # the name of a number, behind those of what it belongs to


@dataclass(frozen=True)
class Equation:
    working: Working
    above: Path = ()

    @property
    def expression(self) -> Expression:
        return self.working.number.expression

    @property
    def paths(self) -> list[Path]:
        return [(*self.above, term) for term in self.working.terms]

    def is_for(self, leaf: Leaf) -> bool:
        """Whether it works this number out."""
        return leaf.name in self.working.terms and int(self.working.number) == leaf.value


@dataclass(frozen=True)
class Group:
    """The equations of one part, its own first; `part` is empty for the equation of the whole."""

    part: Path
    equations: tuple[Equation, ...]

    @property
    def paths(self) -> list[Path]:
        return [path for equation in self.equations for path in equation.paths]


def collected(whole: Working | None, tables: Sequence[Grid]) -> list[Group]:
    """The answer's equation, then those of the lines, part by part."""
    found = (equation for table in tables for equation in _of_lines(table))
    lines = [equation for equation in found if not whole or equation.expression != whole.number.expression]
    first = [Group((), (Equation(whole),))] if whole else []
    return [*first, *_groups(lines)]


def _of_lines(table: Grid) -> Iterator[Equation]:
    above: list[tuple[int, str]] = []
    for line in table.lines:
        above = [(depth, term) for depth, term in above if depth < line.depth]
        if not line.working:
            continue
        if not (isinstance(line.working.number.expression, Leaf) and not line.working.number.expression.name):
            yield Equation(line.working, tuple(term for _, term in above))
        above.append((line.depth, line.working.terms[0]))


def _groups(equations: Sequence[Equation]) -> list[Group]:
    paths = [equation.paths[0] for equation in equations]
    deep = {path[:length] for path in paths for length in range(1, len(path) - LEVELS + 1)}
    found: dict[Path, list[Equation]] = {}
    for equation, path in zip(equations, paths, strict=True):
        parts = (path[:length] for length in range(len(path), 0, -1))
        found.setdefault(next((part for part in parts if part in deep), path[:1]), []).append(equation)
    return [Group(part, tuple(_once(inside))) for part, inside in found.items()]


def _once(equations: Iterable[Equation]) -> list[Equation]:
    """Without repetitions; those of equal numbers that follow each other as one."""
    found: list[Equation] = []
    for equation in equations:
        same = (set(other.working.terms) for other in found if other.expression == equation.expression)
        if any(set(equation.working.terms) <= terms for terms in same):
            continue
        last = next(reversed(found), None)
        if last and last.above == equation.above and last.expression == equation.expression:
            terms = (*last.working.terms, *equation.working.terms)
            found[-1] = Equation(last.working._replace(terms=terms), last.above)
        else:
            found.append(equation)
    return found


def sizes(groups: Sequence[Group]) -> Iterator[tuple[str, int]]:
    """The named sizes in all formulas."""
    for equation in (each for group in groups for each in group.equations):
        yield from ((leaf.name, leaf.value) for leaf in leaves(equation.expression) if leaf.name and not leaf.subtotal)


class Labels:
    """What each number is called."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = groups
        self.parts = {
            each.paths[0]: each for group in groups for each in group.equations[:1] if group.part in each.paths
        }
        self.of_parts: dict[Path, str] = {}
        for path, own in self.parts.items():
            others = [other for other, each in self.parts.items() if each.expression != own.expression]
            self.of_parts[path] = _shortest(path, others, ())

    def label(self, path: Path, group: Group) -> str:
        others = [other for other in group.paths if other != path]
        return self.of_parts.get(path) or _shortest(path, others, self.of_parts.values())

    def labels(self, equation: Equation, group: Group) -> list[str]:
        """Those on its left side, of which the whole has none."""
        return [self.label(path, group) for path in equation.paths] or [""]

    def of_subtotal(self, leaf: Leaf, within: Equation, group: Group) -> str:
        """Of the equation that works it out; empty where its name would stand for another number."""
        near = [each for each in group.equations if each.is_for(leaf)]
        known = [*near, *(each for each in self.parts.values() if each.is_for(leaf))]
        inside = [each for each in known if each.paths[0][: len(within.above) + 1] in within.paths]
        if known:
            return self.label((*(inside or known)[0].above, leaf.name), group)
        named = [(part, each) for part in self.groups for each in part.equations if leaf.name in each.working.terms]
        own = [each for _, each in named if each.is_for(leaf)]
        if not group.part:  # in the sum of the whole, with the name of the part where several have another number
            return f"{own[0].above[0]}, {leaf.name}" if own and len(own) < len(named) else leaf.name
        others = (pair for pair in named if not pair[1].is_for(leaf))
        return "" if any(leaf.name in self.labels(each, part) for part, each in others) else leaf.name


def _shortest(path: Path, others: Sequence[Path], taken: Iterable[str]) -> str:
    """The name, behind as many names of what it belongs to as tell it from the others."""
    endings = [path[-length:] for length in range(1, len(path) + 1)]
    single = (ending for ending in endings if not any(other[-len(ending) :] == ending for other in others))
    labels = (", ".join(ending) for ending in single)
    return next((label for label in labels if label not in taken), ", ".join(path))
