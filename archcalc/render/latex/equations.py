r"""The working as aligned equations: symbol = formula = numbers = value, subtotal by subtotal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from archcalc.core.expression import Expression, Leaf, written
from archcalc.render.latex.formula import AS_NUMBERS, OPERATOR, Formula, Maths, Piece, equation_lines, latex, number
from archcalc.render.latex.symbols import Symbols, subscripted
from archcalc.render.latex.text import text
from archcalc.render.latex.workings import Equation, Group, Labels

LONGEST_LEFT = 14.0  # em of a name with its formula beside it; beneath a longer one
EM = 10.0  # points


class Sides(NamedTuple):
    """An equation: the symbol on its left, and the steps on its right."""

    left: Piece
    steps: list[Formula]

    @property
    def beside(self) -> float:
        """The room that the left side takes from the right one."""
        if self.left.width > LONGEST_LEFT:
            return 0.0
        return self.left.width

    def latex(self, room: float) -> str:
        if self.beside:
            return f"{self.left.latex} &" + " \\\\\n&".join(equation_lines(self.steps, room))
        lines = [self.left.latex, *(f"\\quad {line}" for line in equation_lines(self.steps, room - 1))]
        return "&" + " \\\\\n&".join(lines)


class Aligned(NamedTuple):
    """Equations of an `align*`, under a title or none."""

    title: str
    equations: list[Sides]

    def latex(self, points: float) -> str:
        """It may go on over several pages."""
        room = points / EM - max(each.beside for each in self.equations) - OPERATOR
        lines = " \\\\\n".join(each.latex(room) for each in self.equations)
        heading = self.title and f"\\medskip\\noindent\\textit{{{text(self.title)}}}\n"
        return f"{heading}{{\\allowdisplaybreaks\n\\begin{{align*}}\n{lines}\n\\end{{align*}}}}"


class Writer(NamedTuple):
    """Writes the equations of a group, with symbols for sizes and labels for subtotals."""

    symbols: Symbols
    labels: Labels
    group: Group

    def sides(self, equation: Equation) -> Sides:
        """Of several equal numbers one stands on the left, the others lead the right side; then by symbols, by numbers,
        and what it comes to. A step that only repeats the one before it is left out."""
        working, names = equation.working, self.labels.labels(equation, self.group)
        first, *others = [subscripted(working.quantity, name) for name in names]
        steps = [written(equation.expression, Maths(lambda leaf: self._symbol(leaf, equation)))]
        further: list[Formula] = [(number(int(working.number)),)]
        if not working.names:
            further.insert(0, written(equation.expression, AS_NUMBERS))
        for step in further:
            if latex(step).replace("{,}", "") != latex(steps[-1]).replace("{,}", ""):
                steps.append(step)
        return Sides(first, [*((other,) for other in others), *steps])

    def _symbol(self, leaf: Leaf, within: Equation) -> Piece | None:
        if not leaf.name:
            return None
        if not leaf.subtotal:
            return self.symbols.symbol(leaf.name)
        label = self.labels.of_subtotal(leaf, within, self.group)
        if not label:
            return None
        return subscripted(within.working.quantity, label)


def aligned(groups: Sequence[Group], symbols: Symbols) -> list[Aligned]:
    """A heading where names hold in a group alone; an equation that was written above is not written again."""
    labels = Labels(groups)
    known: dict[str, Expression] = {}
    made: list[Aligned] = []
    for writer in (Writer(symbols, labels, group) for group in groups):
        each_named = [(each, labels.labels(each, writer.group)) for each in writer.group.equations]
        new = [(each, names) for each, names in each_named if any(known.get(name) != each.expression for name in names)]
        known |= {name: each.expression for each, names in new for name in names}
        is_own = any(path not in labels.of_parts for each, _ in new for path in each.paths)
        part = writer.group.part
        title = labels.of_parts.get(part) or ", ".join(part) if is_own else ""
        if title or not made or made[-1].title:
            made.append(Aligned(title, []))
        made[-1].equations.extend(writer.sides(each) for each, _ in new)
    return [each for each in made if each.equations]
