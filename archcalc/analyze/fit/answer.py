"""Whether a model fits on devices: memory needed and available, the largest batch and context, and possible changes.

    fit(load("llama-3-8b"), gpus=["rtx-4090", "24GiB"], mode="train", batch=4)

Takes every option of `archcalc memory`. The largest batch and the longest context are solved for, each with the
other unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from archcalc.analyze.fit.combinations import Together, together
from archcalc.analyze.fit.question import Question
from archcalc.analyze.fit.remedies import Remedy, for_device, more_gpus, remedies
from archcalc.analyze.fit.report import FitReport, Row
from archcalc.analyze.fit.solve import UNBOUNDED
from archcalc.analyze.memory.replicated import left_whole
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.run.device import Device, device, rating
from archcalc.run.keywords import FitKeywords
from archcalc.run.options import Options
from archcalc.spec.option_checks import checked

if TYPE_CHECKING:
    from archcalc.model import Model

SPREAD = ("rtx-3060", "t4", "rtx-4090", "rtx-5090", "l40s", "a100-80gb", "h100", "h200", "b200", "mi300x")

CAPACITY = Assumption(
    Topic.DEVICE, "memory: as the driver reports it where a source gives that, else nameplate; no headroom is reserved"
)
NOTABLE = 100  # what is left whole is named from 1 % of a GPU's bytes on: every model has norms
LARGEST = Assumption(Topic.TABLE, "batch, context: the largest that fit, each with the other unchanged")
OF_GPUS = Assumption(
    Topic.TABLE, "batch, context, GPUs: by the memory of GPUs alone; --host decides about the sizes asked"
)
SCALED = Assumption(
    Topic.TABLE,
    "batch, context: by the bytes of tensors, with as large a share for the allocator as at the sizes asked for",
)


@checked()
def fit(model: Model, gpus: Sequence[str] | str | None = None, **options: Unpack[FitKeywords]) -> FitReport:
    """Devices by name or memory size; a selection of common ones by default."""
    return fitted(model, gpus, Options.of("fit", options, besides=("gpus",)))


def fitted(model: Model, gpus: Sequence[str] | str | None, options: Options) -> FitReport:
    """The same, with all options as one value."""
    question = Question.of(model, options)
    devices = dict(device(name) for name in gpus or SPREAD)
    if not gpus:
        devices = dict(sorted(devices.items(), key=lambda item: item[1].capacity))
    helps = remedies(question, question.report.required_bytes)
    rows = tuple(_row(name, each, question, helps) for name, each in devices.items())
    ratings = all_on(Topic.DEVICE, filter(None, map(rating, gpus or ())))
    return FitReport(
        model=model.name,
        assumptions=(*question.report.assumptions, CAPACITY, *ratings, *_notes(question, rows)),
        scope=model.scope,
        memory=question.report,
        rows=rows,
        remedies=_shown(question, helps, rows),
        together=_together(question, rows),
    )


def _row(name: str, each: Device, question: Question, helps: tuple[Remedy, ...]) -> Row:
    capacity = each.capacity
    max_batch = question.by_batch.largest(capacity)
    max_seq, limited_by = _longest(question, capacity)
    return Row(
        gpu=name,
        capacity_bytes=capacity,
        required_bytes=question.report.required_bytes,
        max_batch=None if max_batch == UNBOUNDED else max_batch,
        max_seq=max_seq,
        limited_by=limited_by,
        gpus_needed=question.fewest(capacity),
        remedy=_remedy(question, capacity, helps),
        host_bytes=question.report.host_bytes,
        host_capacity=question.options.host,
    )


def _remedy(question: Question, capacity: int, helps: tuple[Remedy, ...]) -> Remedy | None:
    """The cheapest single change that makes the model fit: one of the list, else more GPUs."""
    required = question.report.required_bytes
    if required <= capacity:
        return None
    first = next((each for each in helps if each.required <= capacity), None)
    return for_device(question, first, capacity) if first else more_gpus(question, capacity)


def _longest(question: Question, capacity: int) -> tuple[int | None, str | None]:
    """The longest sequence that fits, and whether memory or the model limits it."""
    if not question.has_length:
        return None, None
    found = question.by_length.largest(capacity, question.longest or UNBOUNDED)
    if found == question.longest:
        return found, "positions"
    return (None, None) if found == UNBOUNDED else (found, "memory")


def _shown(question: Question, helps: tuple[Remedy, ...], rows: tuple[Row, ...]) -> tuple[Remedy, ...]:
    """Remedies, if something does not fit; with a single device type, more devices are one of them."""
    if all(row.fits_gpu for row in rows):
        return ()
    if len(rows) > 1:
        return helps
    capacity = rows[0].capacity_bytes
    more = more_gpus(question, capacity)
    return (*(for_device(question, each, capacity) for each in helps), *([more] if more else []))


def _together(question: Question, rows: tuple[Row, ...]) -> tuple[Together, ...]:
    """With a single device, combinations of changes, if no single change makes the model fit."""
    alone = len(rows) == 1 and not rows[0].fits_gpu and rows[0].remedy is None
    return together(question, rows[0].capacity_bytes) if alone else ()


def _notes(question: Question, rows: tuple[Row, ...]) -> list[Assumption]:
    capped = [row.gpu for row in rows if row.limited_by == "positions"]
    where = "" if len(capped) == len(rows) else f", on {', '.join(capped)}"
    notes = [LARGEST] if question.has_length else []
    notes += [SCALED] if question.trains else []
    notes += [OF_GPUS] if question.options.host is not None else []
    if capped:
        text = f"context: no more than the model's {question.longest:,} positions{where}"
        notes.append(Assumption(Topic.CONTEXT, text, question.longest))
    return [*notes, _gpus_note(question, rows), *_left_whole(question, rows)]


def _left_whole(question: Question, rows: tuple[Row, ...]) -> list[Assumption]:
    """What the tensor parallelism of the column `GPUs` replicates, if --tp was not given."""
    numbers = [row.gpus_needed for row in rows if row.gpus_needed and row.gpus_needed > 1]
    if question.trains or question.report.plan.tp > 1 or not numbers:
        return []
    spread = question.over(min(numbers))
    whole = sum(one.bytes for one in spread.undivided)
    return left_whole(spread.undivided) if whole * NOTABLE > spread.total_bytes else []


def _gpus_note(question: Question, rows: tuple[Row, ...]) -> Assumption:
    how = "ZeRO-3" if question.trains else "tensor parallelism"
    text = f"GPUs: the smallest number that fits, with {how}"
    if all(row.gpus_needed for row in rows):
        return Assumption(Topic.PARALLELISM, text, how)
    why = (
        "every GPU gathers whole layers and computes a batch of its own"
        if question.trains
        else "the model cannot be split that far"
    )
    return Assumption(Topic.PARALLELISM, f"{text}; – where no number fits, since {why}", how)
