"""How much memory a model takes on each GPU, part by part and layer by layer, at the instant that takes most.

    Memory(model, mode="train", optimizer="adamw").at(batch=8, seq=4096).total_bytes

`Memory` checks the options once and is cheap to ask at many sizes; `total` gives the number alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from archcalc.analyze.cache import cache
from archcalc.analyze.saved import saved
from archcalc.analyze.runs import never
from archcalc.analyze.states import Held, Keeping, held, totals, trainable_but
from archcalc.case import Case, case
from archcalc.ir import Module
from archcalc.precision import Policy
from archcalc.report import SCHEMA_VERSION, Column, Figure, Line, Report, Table
from archcalc.workload import Workload

if TYPE_CHECKING:
    from archcalc.model import Model

PARTS = (
    "weights",
    "master",
    "gradients",
    "optimizer",
    "activations",
    "logits",
    "temporary",
    "kv_cache",
    "state",
    "overhead",
)


@dataclass(frozen=True)
class MemoryReport(Report):
    command: ClassVar[str] = "memory"
    mode: str
    batch: int
    lengths: dict[str, int]
    parts: dict[str, int]
    rows: tuple[dict[str, Any], ...]
    estimates: tuple[str, ...]

    @property
    def total_bytes(self) -> int:
        """On one GPU, the fullest, at the instant that takes most."""
        return sum(self.parts.values())

    def figures(self) -> list[Figure]:
        return [Figure("bytes on each GPU", self.total_bytes, "bytes")]

    def table(self) -> Table:
        lines = [Line((name.replace("_", " "), size, size / self.total_bytes)) for name, size in self.parts.items() if size]
        return Table((Column("part", "name"), Column("bytes", "bytes"), Column("share", "share")), tuple(lines))

    def record(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "mode": self.mode,
            "batch": self.batch,
            **self.lengths,
            "total_bytes": self.total_bytes,
            "parts": self.parts,
            "estimates": list(self.estimates),
            "assumptions": list(self.assumptions),
            "rows": list(self.rows),
        }


class Memory:
    """The memory of a model under one set of options, at any batch and length."""

    def __init__(self, model: Model, **options: Any) -> None:
        self.model = model
        self.case: Case = case(model, **options)
        self._totals: dict[tuple[int | None, ...], int] = {}

    def at(self, batch: int | None = None, seq: int | None = None, **lengths: int | None) -> MemoryReport:
        """The whole report; sizes that are left out come from the spec."""
        work = self._workload(batch, seq, lengths)
        return MemoryReport(
            model=self.model.name,
            assumptions=(*self.case.assumptions, *work.assumptions),
            mode=self.case.mode,
            batch=work.batch,
            lengths=work.lengths,
            parts=self._parts(work),
            rows=(),
            estimates=self.case.estimates,
        )

    def total(self, batch: int | None = None, seq: int | None = None, **lengths: int | None) -> int:
        """The bytes alone, remembered."""
        key = (batch, seq, *lengths.values())
        if key not in self._totals:
            self._totals[key] = sum(self._parts(self._workload(batch, seq, lengths)).values())
        return self._totals[key]

    def _workload(self, batch: int | None, seq: int | None, lengths: dict[str, int | None]) -> Workload:
        mode = "train" if self.case.trains else "prefill"
        return self.model.workload(batch=batch, seq=seq, **lengths, mode=mode, attention=self.case.attention)

    @cached_property
    def _root(self) -> Module:
        """The model at its usual size, for what does not depend on sizes."""
        return self.model.build(self.model.workload())

    @cached_property
    def _keeping(self) -> Keeping:
        case, trainable = self.case, trainable_but(lambda param: False)
        rest = case.format.rest or case.activations
        return Keeping(case.plan, case.format, rest, trainable if case.trains else never, case.recipe, case.optimizer)

    @cached_property
    def _held(self) -> tuple[Held, ...]:
        self.case.plan.check(self._root)
        return held(self._root, self._keeping)

    def _parts(self, work: Workload) -> dict[str, int]:
        parts = dict.fromkeys(PARTS, 0) | totals(self._held, self._keeping)
        root = self.model.build(work)
        policy = Policy(self.case.activations)
        if self.case.trains:
            parts["activations"] = int(saved(root, policy, recompute=self.case.recompute).bytes)
        else:
            parts["kv_cache"] = int(cache(root, policy).bytes)
        parts["overhead"] = self.case.overhead or 0
        return parts


def memory(
    model: Model, *, batch: int | None = None, seq: int | None = None, src_seq: int | None = None,
    tgt_seq: int | None = None, **options: Any,
) -> MemoryReport:
    """One answer; `Memory` is for many."""
    return Memory(model, **options).at(batch, seq, src_seq=src_seq, tgt_seq=tgt_seq)
