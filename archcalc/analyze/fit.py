"""Will it fit? Devices side by side: what a model needs and what there is, how far it can grow, and what would help.

    fit(load("llama-3-8b"), gpus=["rtx-4090", "24GiB"], mode="train", batch=4)

Takes every option of `archcalc.analyze.memory`. The largest batch and the longest context are solved for, each with the
other left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from archcalc.analyze.fit_report import FitReport, Row
from archcalc.analyze.memory import Memory
from archcalc.analyze.memory_report import MemoryReport
from archcalc.analyze.remedies import Remedy, more_gpus, remedies, with_batch
from archcalc.analyze.solve import UNBOUNDED, Curve, smallest
from archcalc.device import Device, device
from archcalc.errors import InputError

if TYPE_CHECKING:
    from archcalc.model import Model

SPREAD = ("rtx-3060", "t4", "rtx-4090", "rtx-5090", "l40s", "a100-80gb", "h100", "h200", "b200", "mi300x")
MOST_GPUS = 4096
SPLITS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128)  # of tensor parallelism

CAPACITY = "memory: what the driver reports where a source says so, else the nameplate; nothing is taken off"
LARGEST = "batch, context: the largest that fit, each with the other left as it is"


@dataclass(frozen=True)
class Question:
    """A model, the sizes that were asked for, and how it is run."""

    model: Model
    batch: int
    seq: int | None
    lengths: dict[str, int]  # src_seq and tgt_seq, where they were given
    options: dict[str, Any]
    _plans: dict[tuple[int, int], int | None] = field(default_factory=dict)

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.model, **self.options)

    @cached_property
    def report(self) -> MemoryReport:
        return self.memory.at(self.batch, self.seq, **self.lengths)

    @property
    def trains(self) -> bool:
        return self.options.get("mode") == "train"

    @cached_property
    def by_batch(self) -> Curve:
        """Bytes by the number of sequences, their length left as it is."""
        return Curve(lambda batch: self.memory.total(batch, self.seq, **self.lengths))

    @cached_property
    def by_length(self) -> Curve:
        """Bytes by the length, the batch left as it is."""
        return Curve(self._at_length)

    def _at_length(self, length: int) -> int:
        """With the lengths that were not asked for, or else the last, as long as that."""
        free = [name for name in self.model.resolved.lengths if not self.lengths.get(name)]
        if free or not self.lengths:
            return self.memory.total(self.batch, length, **self.lengths)
        *_, last = self.model.resolved.lengths
        return self.memory.total(self.batch, None, **{**self.lengths, last: length})

    @cached_property
    def longest(self) -> int | None:
        """How many positions the model has; None where it has no bound, or was asked for more than it was made for."""
        limits = [limit.length for limit in self.model.resolved.lengths.values() if limit.length]
        asked = max((self.seq or 0, *(length or 0 for length in self.lengths.values())))
        return min(limits) if limits and asked <= min(limits) else None

    @property
    def has_length(self) -> bool:
        """Whether there is a length to choose: an image's follows from its size."""
        lengths = self.model.resolved.lengths
        return bool(lengths) and not all(limit.fixed for limit in lengths.values())

    def on(self, tp: int, dp: int) -> int | None:
        """Bytes on each of `tp` × `dp` GPUs; None where the model cannot be split so."""
        if (tp, dp) not in self._plans:
            zero = 3 if dp > 1 else self.options.get("zero")
            try:
                memory = Memory(self.model, **{**self.options, "tp": tp, "dp": dp, "zero": zero})
                self._plans[tp, dp] = memory.total(self.batch, self.seq, **self.lengths)
            except InputError:
                self._plans[tp, dp] = None
        return self._plans[tp, dp]

    @property
    def mesh(self) -> tuple[int, int]:
        """Tensor parallelism and data parallelism as they were asked for."""
        return self.options.get("tp") or 1, self.options.get("dp") or 1

    def enough(self, capacity: int) -> tuple[int, int] | None:
        """The fewest such devices, training with ZeRO-3, else with tensor parallelism; None if no number is enough."""
        tp, dp = self.mesh
        if self.report.total_bytes <= capacity:
            return tp, dp
        if self.trains:
            if (self.on(tp, MOST_GPUS) or UNBOUNDED**2) > capacity:
                return None
            found = smallest(lambda number: self.on(tp, number) or UNBOUNDED**2, capacity, MOST_GPUS)
            return (tp, found) if found else None
        splits = [split for split in SPLITS if split > tp]
        return next(((split, dp) for split in splits if (self.on(split, dp) or UNBOUNDED**2) <= capacity), None)


def fit(
    model: Model,
    gpus: Sequence[str] | str | None = None,
    *,
    batch: int | None = None,
    seq: int | None = None,
    src_seq: int | None = None,
    tgt_seq: int | None = None,
    **options: Any,
) -> FitReport:
    """Devices by name or memory size; a spread of usual ones if none is named."""
    lengths = {name: length for name, length in (("src_seq", src_seq), ("tgt_seq", tgt_seq)) if length}
    chosen = {name: value for name, value in options.items() if value is not None}
    question = Question(model, batch or model.spec.batch or 1, seq or model.spec.seq, lengths, chosen)
    named = [gpus] if isinstance(gpus, str) else list(gpus or ())
    devices = dict(device(name) for name in named or SPREAD)
    if not named:
        devices = dict(sorted(devices.items(), key=lambda item: item[1].capacity))
    helps = remedies(question, question.report.total_bytes)
    rows = tuple(_row(name, each, question, helps) for name, each in devices.items())
    return FitReport(
        model=model.name,
        assumptions=(*question.report.assumptions, CAPACITY, *_notes(question, rows)),
        memory=question.report,
        rows=rows,
        remedies=_shown(question, helps, rows),
    )


def _row(name: str, each: Device, question: Question, helps: tuple[Remedy, ...]) -> Row:
    capacity = each.capacity
    max_batch = question.by_batch.largest(capacity)
    max_seq, limited_by = _longest(question, capacity)
    return Row(
        gpu=name,
        capacity_bytes=capacity,
        required_bytes=question.report.total_bytes,
        max_batch=None if max_batch == UNBOUNDED else max_batch,
        max_seq=max_seq,
        limited_by=limited_by,
        gpus_needed=_product(question.enough(capacity)),
        remedy=_remedy(question, capacity, max_batch, helps),
    )


def _product(mesh: tuple[int, int] | None) -> int | None:
    return mesh[0] * mesh[1] if mesh else None


def _remedy(question: Question, capacity: int, max_batch: int, helps: tuple[Remedy, ...]) -> Remedy | None:
    """The cheapest single change that is enough: one of the list, else more GPUs."""
    required = question.report.total_bytes
    if required <= capacity:
        return None
    first = next((each for each in helps if each.required <= capacity), None)
    if first and first.change.batch:
        return with_batch(first, max_batch, question.by_batch.at)
    return first or more_gpus(question, capacity)


def _longest(question: Question, capacity: int) -> tuple[int | None, str | None]:
    """The longest sequence that fits, and what stops it there."""
    if not question.has_length:
        return None, None
    found = question.by_length.largest(capacity, question.longest or UNBOUNDED)
    if found == question.longest:
        return found, "positions"
    return (None, None) if found == UNBOUNDED else (found, "memory")


def _shown(question: Question, helps: tuple[Remedy, ...], rows: tuple[Row, ...]) -> tuple[Remedy, ...]:
    """Where everything fits there is nothing to mend; of one device, more of it is a remedy among others."""
    if all(row.fits for row in rows):
        return ()
    more = more_gpus(question, rows[0].capacity_bytes) if len(rows) == 1 else None
    return (*helps, more) if more else helps


def _notes(question: Question, rows: tuple[Row, ...]) -> list[str]:
    capped = [row.gpu for row in rows if row.limited_by == "positions"]
    where = "" if len(capped) == len(rows) else f", on {', '.join(capped)}"
    notes = [LARGEST] if question.has_length else []
    notes += [f"context: no more than the model's {question.longest:,} positions{where}"] if capped else []
    return [*notes, _gpus_note(question, rows)]


def _gpus_note(question: Question, rows: tuple[Row, ...]) -> str:
    how = "ZeRO-3" if question.trains else "tensor parallelism"
    note = f"GPUs: the fewest that are enough, with {how}"
    if all(row.gpus_needed for row in rows):
        return note
    why = "every GPU computes a batch of its own" if question.trains else "the model cannot be split that far"
    return f"{note}; – where no number is, since {why}"
