"""`archcalc verify config.json`: transformers first, then the same spec in plain PyTorch, in one table."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.model import Model
from archcalc.spec.workload import Workload
from archcalc.verify.check import Progress
from archcalc.verify.check import verify as verify_plain
from archcalc.verify.hf.rows import compared
from archcalc.verify.report import Row, VerifyReport

PLAIN = "the same spec in plain PyTorch"


def verify_config(model: Model, work: Workload, *, quick: bool, progress: Progress) -> VerifyReport:
    """Both comparisons."""
    progress(0, 1, "transformers")
    first = compared(model, work)
    second = verify_plain(model, work, quick=quick, progress=progress)
    rows = (*(replace(row, against=first.against) for row in first.rows), *map(_under_heading, second.rows))
    notes = all_on(Topic.SOURCE, model.document.notes) + all_on(Topic.REFERENCE, first.notes)
    left_out = {**first.left_out, **second.left_out}
    return VerifyReport(model.name, (*notes, *map(_in_plain, second.assumptions)), second.setting, rows, left_out)


def _in_plain(each: Assumption) -> Assumption:
    """A note on how much was compared; transformers rows are always complete."""
    return replace(each, text=f"in plain PyTorch {each.text}") if each.topic is Topic.SCOPE else each


def _under_heading(row: Row) -> Row:
    return row if row.group else replace(row, group=PLAIN)
