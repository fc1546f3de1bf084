"""A cell of `archcalc fit --table`: what `archcalc fit` says of that question alone, and how far it can grow there.

    cells = Cells("context")
    cells.of(question)          a Cell, or a Refusal where the options do not go together

A length is compared with two bounds that are solved for, so that nobody has to ask about each: up to `most` it fits,
up to `limit` it is tight or nobody can say, and beyond it does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from archcalc.analyze.fit.answer import judged
from archcalc.analyze.fit.matrix_axes import Question
from archcalc.analyze.fit.need import measured, room
from archcalc.analyze.fit.request import Placed, Request, placed_on
from archcalc.analyze.fit.rows import Row
from archcalc.analyze.fit.sentence import on_one
from archcalc.analyze.fit.solve import UNBOUNDED, curve_of, longest_in
from archcalc.analyze.fit.verdict import Verdict
from archcalc.core.assumptions import Assumption
from archcalc.core.errors import InputError
from archcalc.network import Network

CONTEXT, BATCH, MEMORY = KINDS = ("context", "batch", "memory")  # what a cell shows


@dataclass(frozen=True)
class Refusal:
    """Why there is no such run."""

    command: str
    fact: str


@dataclass(frozen=True)
class Growth:
    """The largest that fits, and the largest that might, with the verdicts up to both; None where nothing bounds it.
    `asked` is the size that the cell's own verdict is about, None of several lengths; `longest` is the model's last
    position. `command` asks about any size that is written behind it; empty where other things than these bounds
    decide."""

    asked: int | None
    most: int | None
    limit: int | None
    within: Verdict
    beyond: Verdict
    command: str
    longest: int | None = None


@dataclass(frozen=True)
class Cell:
    """The row that `command` prints, `growth` by context or batch."""

    command: str
    row: Row
    growth: Growth | None
    notes: tuple[Assumption, ...]
    band: Assumption | None

    @property
    def required(self) -> int:
        return self.row.required_bytes

    @property
    def left(self) -> int:
        return self.row.left_bytes

    @cached_property
    def verdict(self) -> Verdict:
        return self.row.verdict

    @property
    def share_left(self) -> float:
        """Of the memory that there is."""
        return self.left / self.row.capacity_bytes

    @property
    def engine(self) -> str:
        """That runs it, with its version."""
        return next((one.words for one in self.row.memory.choices if one.name == "engine"), "")

    @property
    def answer(self) -> str:
        """The sentence that the command begins with."""
        return on_one(self.row)


@dataclass
class Cells:
    """Answers cells of one kind. Devices on which the run is the same share a request and what is worked out for it."""

    kind: str
    known: dict[tuple[Network, object], list[Request]] = field(default_factory=dict)

    def of(self, question: Question) -> Cell | Refusal:
        try:
            placed = self._placed(question)
            return self._cell(question, placed)
        except InputError as error:
            return Refusal(question.command, error.fact)

    def longest(self, question: Question) -> int | None:
        """The longest context that fits with the error band to spare; None where there is no such run."""
        try:
            placed = self._placed(question)
            return longest_in(placed.request, room(placed.request, placed.group.first).safe)[0]
        except InputError:
            return None

    def _placed(self, question: Question) -> Placed:
        assert question.gpu
        (placed,) = placed_on(question.network, question.options, [question.gpu])
        request = placed.request
        run = request.deployment.run  # which may be refused, and then is not known to others
        others = self.known.setdefault((request.network, request.sizes), [])
        for other in others:
            if other.split == request.split and other.deployment.run == run:
                return placed._replace(request=other)
        others.append(request)
        return placed

    def _cell(self, question: Question, placed: Placed) -> Cell:
        request = placed.request
        band = measured(request)
        row = replace(judged(placed), memory=replace(request.report, cards=question.gpu.words if question.gpu else ""))
        notes = (*request.report.assumptions, *placed.notes)
        return Cell(question.command, row, self._growth(question, placed), notes, band.assumption() if band else None)

    def _growth(self, question: Question, placed: Placed) -> Growth | None:
        request, there = placed.request, room(placed.request, placed.group.first)
        available = (there.safe, there.capacity if there.missing else there.limit)
        verdicts, compares = (there.verdict(0), there.verdict(there.safe + 1)), _compares(request)
        if self.kind == BATCH:
            most, limit = (_bounded(curve_of(request, "batch").largest(each)) for each in available)
            return Growth(request.batch, most, limit, *verdicts, question.asking("batch") if compares else "")
        names, asked, longest = request.varying
        if self.kind == MEMORY or not names:
            return None
        compares = compares and asked is not None
        most, limit = (longest_in(request, each)[0] for each in available)
        return Growth(asked, most, limit, *verdicts, question.asking(names[0]) if compares else "", longest)


def _compares(request: Request) -> bool:
    """Whether memory of the device alone decides: a training step's allocator and host RAM have limits of their own."""
    return not request.options.trains and request.options.host is None


def _bounded(number: int) -> int | None:
    return None if number == UNBOUNDED else number
