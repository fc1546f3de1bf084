r"""The working as aligned equations: symbol = formula = numbers = value, subtotal by subtotal.

Each part of the model is a group of equations. Within it a subtotal goes by its name in the sums above it; where two of
one name come to different numbers, what they belong to stands in front: $P_{\text{attention, out}}$.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from archcalc.core.expression import Expression, Leaf, leaves, written
from archcalc.render.latex.formula import AS_NUMBERS, OPERATOR, Formula, Maths, Piece, equation_lines, latex, number
from archcalc.render.latex.symbols import Symbols, subscripted
from archcalc.render.latex.text import text
from archcalc.report.base import Table, Working

LEAST_ROOM = 12.0  # em for the right side, however long the names on the left are
EM = 10.0  # points

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


@dataclass(frozen=True)
class Group:
    """The equations of one part of the model, with the labels that tell their numbers apart."""

    equations: tuple[Equation, ...]
    parts: tuple[Group, ...] = ()  # of the whole, which its equation adds up

    @property
    def paths(self) -> list[Path]:
        return [path for equation in self.equations for path in equation.paths]

    def label(self, path: Path) -> str:
        """Its name, behind as many names of what it belongs to as are needed."""
        endings = (path[-length:] for length in range(1, len(path) + 1))
        single = (ending for ending in endings if sum(other[-len(ending) :] == ending for other in self.paths) == 1)
        return ", ".join(next(single, path))

    def labels(self, equation: Equation) -> list[str]:
        return [self.label(path) for path in equation.paths] or [""]

    def of_subtotal(self, leaf: Leaf, within: Equation) -> str:
        """The label of the equation that works it out; empty where its name would stand for another number."""
        if self.parts:
            return self._of_part(leaf)
        paths = [path for each in self.equations if int(each.working.number) == leaf.value for path in each.paths]
        named = [path for path in paths if path[-1] == leaf.name]
        inside = [path for path in named if path[: len(within.above) + 1] in within.paths]
        if named:
            return self.label((inside or named)[0])
        return "" if leaf.name in map(self.label, self.paths) else leaf.name

    def _of_part(self, leaf: Leaf) -> str:
        """With the name of the part, where several parts have another number of this name."""
        named = [each for part in self.parts for each in part.equations if leaf.name in each.working.terms]
        own = [each for each in named if int(each.working.number) == leaf.value and each.above]
        return f"{own[0].above[0]}, {leaf.name}" if own and len(own) < len(named) else leaf.name


def collected(whole: Working | None, tables: Sequence[Table]) -> list[Group]:
    """The answer's equation, then those of the lines, by the part of the model that they are in."""
    found = (equation for table in tables for equation in _of_lines(table))
    lines = [equation for equation in found if not whole or equation.expression != whole.number.expression]
    groups = [Group(tuple(_once(part))) for _, part in groupby(lines, key=lambda equation: equation.paths[0][0])]
    return [Group((Equation(whole),), tuple(groups)), *groups] if whole else groups


def _of_lines(table: Table) -> Iterator[Equation]:
    above: list[tuple[int, str]] = []
    for line in table.lines:
        above = [(depth, term) for depth, term in above if depth < line.depth]
        if not line.working:
            continue
        if not _is_bare(line.working.number.expression):
            yield Equation(line.working, tuple(term for _, term in above))
        above.append((line.depth, line.working.terms[0]))


def _is_bare(expression: Expression) -> bool:
    return isinstance(expression, Leaf) and not expression.name


def _once(equations: Iterable[Equation]) -> list[Equation]:
    """Without repetitions; those of equal numbers that follow each other as one."""
    found: list[Equation] = []
    for equation in equations:
        if any(_is_repeated(equation, other) for other in found):
            continue
        last = found[-1] if found else None
        if last and last.above == equation.above and last.expression == equation.expression:
            terms = (*last.working.terms, *equation.working.terms)
            found[-1] = Equation(last.working._replace(terms=terms), last.above)
        else:
            found.append(equation)
    return found


def _is_repeated(equation: Equation, other: Equation) -> bool:
    return equation.expression == other.expression and set(equation.working.terms) <= set(other.working.terms)


def sizes(groups: Sequence[Group]) -> Iterator[tuple[str, int]]:
    """The named sizes in all formulas."""
    for equation in (each for group in groups for each in group.equations):
        yield from ((leaf.name, leaf.value) for leaf in leaves(equation.expression) if leaf.name and not leaf.subtotal)


class Aligned(NamedTuple):
    """Equations of an `align*`: the left side of each, and the steps on its right."""

    title: str
    lefts: list[Piece]
    rights: list[list[Formula]]

    def latex(self, points: float) -> str:
        """It may go on over several pages."""
        room = max(points / EM - max(left.width for left in self.lefts) - OPERATOR, LEAST_ROOM)
        rights = (" \\\\\n&".join(equation_lines(steps, room)) for steps in self.rights)
        lines = [f"{left.latex} &{right}" for left, right in zip(self.lefts, rights, strict=True)]
        heading = [f"\\medskip\\noindent\\textit{{{text(self.title)}}}"] if self.title else []
        start = ["{\\allowdisplaybreaks", "\\begin{align*}"]
        return "\n".join([*heading, *start, " \\\\\n".join(lines), "\\end{align*}}"])


def aligned(groups: Sequence[Group], symbols: Symbols) -> list[Aligned]:
    """A heading for each part with several equations; an equation that was written above is not written again."""
    known: dict[str, Expression] = {}
    made: list[Aligned] = []
    for group in groups:
        new = [
            each for each in group.equations if any(known.get(name) != each.expression for name in group.labels(each))
        ]
        known |= {name: each.expression for each in new for name in group.labels(each)}
        sides = [_sides(each, group, symbols) for each in new]
        title = new[0].paths[0][0] if len(new) > 1 else ""
        if title or not made or made[-1].title:
            made.append(Aligned(title, [], []))
        made[-1].lefts.extend(left for left, _ in sides)
        made[-1].rights.extend(right for _, right in sides)
    return [each for each in made if each.lefts]


def _sides(equation: Equation, group: Group, symbols: Symbols) -> tuple[Piece, list[Formula]]:
    """Of several equal numbers one stands on the left, the others lead the right side."""
    first, *others = [subscripted(equation.working.quantity, label) for label in group.labels(equation)]
    return first, [*((other,) for other in others), *_steps(equation, group, symbols)]


def _steps(equation: Equation, group: Group, symbols: Symbols) -> list[Formula]:
    """By symbols, by numbers, and what it comes to; a step that only repeats the one before it is left out."""
    working = equation.working
    steps = [written(equation.expression, Maths(lambda leaf: _symbol(leaf, equation, group, symbols)))]
    by_numbers = [] if working.names else [written(equation.expression, AS_NUMBERS)]
    for step in (*by_numbers, (number(int(working.number)),)):
        if latex(step).replace("{,}", "") != latex(steps[-1]).replace("{,}", ""):
            steps.append(step)
    return steps


def _symbol(leaf: Leaf, within: Equation, group: Group, symbols: Symbols) -> Piece | None:
    if not leaf.name:
        return None
    if not leaf.subtotal:
        return symbols.symbol(leaf.name)
    label = group.of_subtotal(leaf, within)
    return subscripted(within.working.quantity, label) if label else None
