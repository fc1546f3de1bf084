"""What fits over two choices: `archcalc fit MODEL --table weights,context --gpu rtx-3090`.

A row for each value of the first axis, a column for each of the second: the memory needed, and whether that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from archcalc.analyze.fit.facts import Facts, facts
from archcalc.analyze.fit.matrix_report import Cell, MatrixReport
from archcalc.analyze.fit.notes import CAPACITY, band_note
from archcalc.analyze.fit.placing import Placed, Placing
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.device import group
from archcalc.run.ladders import Rung, ladder
from archcalc.run.options import Options

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question
    from archcalc.model import Model

SHORTEST, LONGEST = 2048, 131_072  # contexts, where the model has as many positions and where it has no limit
COLUMNS = 7
BATCHES = tuple(2**power for power in range(COLUMNS))
MARKS = Assumption(Topic.TABLE, "cells: GiB needed; ✓ fits, ≈ tight, ? cannot say, ✗ does not fit", "GiB")
Row = tuple[str | int, tuple[Cell | None, ...]]


@dataclass(frozen=True)
class Values:
    """What one axis goes through: its name, its values, and the question with one of them."""

    name: str
    of: Callable[[Question, Facts], Sequence[str | int]]
    changed: Callable[[Question, str | int], Question]


def _formats(question: Question, known: Facts) -> list[str]:
    """As the weights are now, and down the ladder."""
    rungs = _narrower(ladder(known.engine, known.kind).weights, known.bits)
    now = question.whole.parameters.weights
    return [
        _weights_now(question),
        *(one for one in rungs if question.with_weights(one).whole.parameters.weights < now),
    ]


def _caches(question: Question, known: Facts) -> list[str]:
    return [_cache_now(question), *_narrower(ladder(known.engine, known.kind).kv, known.cache_bits)]


def _weights_now(question: Question) -> str:
    return question.whole.run.format.name.lower()


def _cache_now(question: Question) -> str:
    return question.whole.run.cache_name or "none"


def _narrower(rungs: Sequence[Rung], bits: int) -> list[str]:
    return [one.format for one in rungs if one.bits < bits]


def _contexts(question: Question, known: Facts) -> list[int]:
    """Up to all that the model has, by halves."""
    if not question.length:
        raise InputError("this model has no context to choose", "use --table weights,batch", field="--table")
    most = question.longest or max(LONGEST, question.length)
    halves = [most >> power for power in range(COLUMNS)]
    return sorted(size for size in halves if size >= min(SHORTEST, most // 4) and size)


def _with_format(option: str, now: Callable[[Question], str]) -> Callable[[Question, str | int], Question]:
    def changed(question: Question, value: str | int) -> Question:
        if value == now(question):  # which a file may have, and no option
            return question
        return question.with_options(question.options.changed(**{option: value}))

    return changed


def _with_length(question: Question, value: str | int) -> Question:
    return replace(question, sizes=question.of_length(int(value)))


def _with_batch(question: Question, value: str | int) -> Question:
    return replace(question, sizes=replace(question.sizes, batch=int(value)))


AXES = {
    "weights": Values("weights", _formats, _with_format("weights", _weights_now)),
    "kv-dtype": Values("kv_dtype", _caches, _with_format("kv_dtype", _cache_now)),
    "context": Values("context", _contexts, _with_length),
    "batch": Values("batch", lambda question, known: BATCHES, _with_batch),
}


def matrix(model: Model, gpus: Sequence[str] | None, options: Options, axes: str) -> MatrixReport:
    """For one device, or several that hold the model together."""
    first, second = _axes(axes)
    if not gpus or len(gpus) > 1:
        raise InputError("is about one device", "add --gpu NAME, such as --gpu rtx-3090", field="--table")
    if options.trains:
        raise InputError("is about inference", "leave --mode out", field="--table")
    placed = Placing(model, options).on(group(gpus[0]))
    known = facts(placed.question, placed.group.kinds)
    rows, columns = first.of(placed.question, known), second.of(placed.question, known)
    return MatrixReport(
        model=model.name,
        assumptions=(*placed.question.report.assumptions, *_notes(placed)),
        scope=model.scope,
        gpu=placed.group.name,
        axes=(first.name, second.name),
        across=tuple(columns),
        rows=tuple(_row(placed, first, second, value, columns) for value in rows),
        longest=tuple(_longest(placed, first, value) for value in rows) if second.name == "context" else (),
        memory=placed.question.report,
        capacity=placed.capacity,
    )


def _axes(text: str) -> tuple[Values, Values]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in AXES:
            raise InputError(f"no axis called {name or 'nothing'}", did_you_mean(name, AXES), field="--table")
    if len(names) != len(set(names)) or len(names) != 2:
        raise InputError("takes two different axes", "such as --table weights,context", field="--table")
    return AXES[names[0]], AXES[names[1]]


def _notes(placed: Placed) -> Iterator[Assumption]:
    yield MARKS
    yield band_note(placed.question.band)
    yield CAPACITY
    yield from placed.notes


def _row(placed: Placed, first: Values, second: Values, value: str | int, columns: Sequence[str | int]) -> Row:
    question = _on(placed.question, first, value)
    return value, tuple(_cell(placed, _on(question, second, other)) for other in columns)


def _on(question: Question | None, axis: Values, value: str | int) -> Question | None:
    """None where the model does not allow it."""
    if question is None:
        return None
    try:
        return axis.changed(question, value)
    except InputError:
        return None


def _cell(placed: Placed, question: Question | None) -> Cell | None:
    if question is None:
        return None
    try:
        required = question.required
    except InputError:
        return None
    return Cell(required, question.room(placed.group.first).verdict(required))


def _longest(placed: Placed, first: Values, value: str | int) -> int | None:
    """The longest context that fits with the error band to spare."""
    question = _on(placed.question, first, value)
    try:
        return question.longest_in(question.room(placed.group.first).safe)[0] if question else None
    except InputError:
        return None
