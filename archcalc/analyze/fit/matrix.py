"""What fits over two choices: `archcalc fit MODEL --table weights,gpu`.

A row for each value of the first axis, a column for each of the second. Every cell is what `archcalc fit` answers with
those values alone, and has that command.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from archcalc.analyze.fit.matrix_axes import AXES, Asked, Axis, Question, Typed, Value, devices, parted, question
from archcalc.analyze.fit.matrix_cell import BATCH, CONTEXT, KINDS, MEMORY, Cell, Cells, Refusal
from archcalc.analyze.fit.matrix_notes import notes
from archcalc.analyze.fit.matrix_report import MatrixReport
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.progress import doing
from archcalc.network import Network
from archcalc.run.options import Options
from archcalc.spec.scope import WHOLE

MOST = 512  # cells
Chosen = tuple[Axis, tuple[Value, ...]]
Row = tuple[Value, tuple[Cell | Refusal, ...]]


class Found(NamedTuple):
    """Cells in rows, and of each row the longest context where contexts are the columns."""

    across: tuple[Value, ...]
    rows: tuple[Row, ...]
    longest: tuple[int | None, ...]


def matrix(
    models: Sequence[tuple[Typed, Network]],
    gpus: Sequence[str] | None,
    options: Options,
    axes: str,
    cell: str = "",
) -> MatrixReport:
    """Of models as they were typed."""
    first, second = parted(axes)
    written = {axis.name: values for axis, values in (first, second)}
    typed = tuple(Question(name, network, options) for name, network in models)
    asked = Asked(typed[0], typed, devices(gpus or (), written.get("gpu", ())))
    _check(asked, written, gpus or ())
    asked = Asked(_on_one(typed[0], asked, written), typed, asked.gpus)
    kind = _kind(cell, asked, written)
    rows, columns = ((axis, values or tuple(axis.usual(asked))) for axis, values in (first, second))
    if len(rows[1]) * len(columns[1]) > MOST:
        fact = f"has {len(rows[1]) * len(columns[1]):,} cells, more than {MOST}"
        raise InputError(fact, "name fewer values", field="--table")
    found = _cells(asked, rows, columns, kind)
    _check_answered(found)
    found = _kept(found, rows=bool(first[1]), columns=bool(second[1]))
    return MatrixReport(
        model=", ".join(dict.fromkeys(one.network.name for one in typed)),
        assumptions=tuple(dict.fromkeys(notes(found.rows, found.across))),
        scope=typed[0].network.scope if len(typed) == 1 else WHOLE,
        kind=kind,
        gpus={one.name: one for one in asked.gpus},
        axes=(first[0].name, second[0].name),
        across=found.across,
        rows=found.rows,
        longest=found.longest,
    )


def _check(asked: Asked, written: dict[str, tuple[Value, ...]], gpus: Sequence[str]) -> None:
    """Of what is no axis there is one."""
    if "gpu" not in written and len(gpus) != 1:
        hint = "add --gpu NAME, such as --gpu rtx-3090, or make gpu an axis: --table weights,gpu"
        raise InputError("is about one device", hint, field="--table")
    if "model" not in written and len(asked.models) > 1:
        raise InputError("is about one model", "make model an axis: --table model,gpu", field="--table")
    if asked.first.options.trains and {"weights", "kv-dtype"} & written.keys():
        hint = "leave --mode out, or choose other axes: --table plan,gpu"
        raise InputError("with weights or kv-dtype is about inference", hint, field="--table")


def _on_one(shared: Question, asked: Asked, written: dict[str, tuple[Value, ...]]) -> Question:
    """On the device that is no axis."""
    return shared if "gpu" in written else AXES["gpu"].with_value(shared, asked, asked.gpus[0].name)


def _kind(cell: str, asked: Asked, written: dict[str, tuple[Value, ...]]) -> str:
    """What was asked for; else the longest context, unless an axis has it, and for a model without any the batch."""
    if cell and cell not in KINDS:
        raise InputError(f"a cell has no {cell}", did_you_mean(cell, KINDS), field="--cell")
    if cell in written:
        raise InputError(f"{cell} is an axis already", "leave --cell out, or choose another", field="--cell")
    if cell:
        return cell
    if CONTEXT in written or BATCH in written:
        return MEMORY
    has_context = bool(asked.first.request.varying.asked) and not asked.first.options.trains
    return CONTEXT if has_context else BATCH


def _cells(asked: Asked, rows: Chosen, columns: Chosen, kind: str) -> Found:
    """Every cell; and where contexts are the columns, the longest context of each row."""
    cells, found, longest = Cells(kind), list[Row](), list[int | None]()
    for value in rows[1]:
        doing(f"{rows[0].name} {value}: row {len(found) + 1} of {len(rows[1])}")
        row = tuple(_cell(cells, asked, (rows[0], value), (columns[0], other)) for other in columns[1])
        found.append((value, row))
        if columns[0].name == CONTEXT:
            longest.append(cells.longest(question(asked, (rows[0], value))))
    return Found(columns[1], tuple(found), tuple(longest))


def _kept(found: Found, *, rows: bool, columns: bool) -> Found:
    """Without usual values that no device here runs; those that were written stay."""
    down = [place for place, (_, row) in enumerate(found.rows) if rows or _is_answered(row)]
    every = range(len(found.across))
    across = [place for place in every if columns or _is_answered([row[place] for _, row in found.rows])]
    kept = ((found.rows[place][0], tuple(found.rows[place][1][each] for each in across)) for place in down)
    longest = tuple(found.longest[place] for place in down if found.longest)
    return Found(tuple(found.across[place] for place in across), tuple(kept), longest)


def _is_answered(cells: Sequence[Cell | Refusal]) -> bool:
    return any(isinstance(cell, Cell) for cell in cells)


def _check_answered(found: Found) -> None:
    """A table in which nothing has an answer is a mistake."""
    every = [cell for _, row in found.rows for cell in row]
    refused = [cell for cell in every if isinstance(cell, Refusal)]
    if len(refused) == len(every):
        raise InputError(refused[0].fact, "no cell of this table has an answer", field="--table")


def _cell(cells: Cells, asked: Asked, *chosen: tuple[Axis, Value]) -> Cell | Refusal:
    try:
        made = question(asked, *chosen)
    except InputError as error:
        return Refusal("", error.fact)
    return cells.of(made)
