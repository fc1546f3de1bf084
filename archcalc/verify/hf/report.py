"""`archcalc verify config.json`: transformers first, then the same spec in plain PyTorch, in one table."""

from __future__ import annotations

from dataclasses import replace

from archcalc.model import Model
from archcalc.spec.workload import Workload
from archcalc.verify.check import SHORTENED, Progress
from archcalc.verify.check import verify as verify_plain
from archcalc.verify.hf.rows import compared
from archcalc.verify.report import Row, VerifyReport

PLAIN = "the same spec in plain PyTorch"


def verify_config(model: Model, work: Workload, *, quick: bool, progress: Progress) -> VerifyReport:
    """Both comparisons."""
    progress(0, 1, "transformers")
    first = compared(model, work)
    notes = (*model.document.notes, *first.notes)
    second = verify_plain(model, work, quick=quick, progress=progress)
    rows = (*(replace(row, against=first.against) for row in first.rows), *map(_under_heading, second.rows))
    notes = (*notes, *(f"in plain PyTorch {note}" if note == SHORTENED else note for note in second.assumptions))
    left_out = {**first.left_out, **second.left_out}
    return VerifyReport(model.name, notes, second.setting, rows, left_out)


def _under_heading(row: Row) -> Row:
    return row if row.group else replace(row, group=PLAIN)
