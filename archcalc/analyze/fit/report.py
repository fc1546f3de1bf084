"""The report of `archcalc fit`: one row per device, then one per change that would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from archcalc.analyze.fit import remedy_words
from archcalc.analyze.fit.kv_pool import KvPool
from archcalc.analyze.fit.rows import Part, Row
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.fit.sentence import at_once, joined, on_one, on_several, smallest_card
from archcalc.analyze.fit.uses import USES, Use
from archcalc.analyze.fit.verdict import Verdict
from archcalc.analyze.memory.marginals import Limit, Marginals
from archcalc.analyze.memory.report import MemoryReport
from archcalc.report.bar import Bar
from archcalc.report.base import Figure, Report, given
from archcalc.report.table import Column, Table, keys, records_of, table_of
from archcalc.report.units import Tone
from archcalc.run.accuracy import Band
from archcalc.run.choice import Choice, run_record

ASKED = (
    "gpus",
    "tp",
    "dp",
    "zero",
    "sp",
    "cp",
    "weights_format",
    "total_bytes",
    "required_bytes",
    "not_divided",
)  # as `archcalc memory` says them
PARTS: tuple[Column[Part], ...] = (  # what each device holds of split layers
    Column("gpu", "device", "name"),
    Column("layers", get=lambda part: list(part.layers)),
    Column("", "layers", "text", lambda part: f"{part.layers[0] + 1} to {part.layers[1]}"),
    Column("", "fits", "verdict", "verdict"),
    Column("capacity_bytes", "memory", "binary", "room.capacity"),
    Column("required_bytes", "needed", "binary"),
    Column("left_bytes", "left", "room"),
    Column("verdict", get="verdict.value"),
)
POOL: tuple[Column[tuple[str, KvPool]], ...] = (  # of an engine that fills its device
    Column("", "KV pool", "name", lambda one: one[0]),
    Column("", "size", "room", lambda one: one[1].room),
    Column("", "tokens", "bound", lambda one: one[1].tokens),
    Column("", "bytes a token", "count", lambda one: round(one[1].bytes_per_token)),
    Column("", "requests at once", "bound", lambda one: one[1].max_requests),
    Column("", "longest context", "bound", lambda one: one[1].max_context),
)
WORST_FIRST = (Verdict.NOT, Verdict.TIGHT, Verdict.CANNOT_SAY)


@dataclass(frozen=True)
class FitReport(Report):
    """Rows by device; `memory` is what the model needs on each GPU."""

    command: ClassVar[str] = "fit"
    chart: ClassVar[str] = "devices"
    memory: MemoryReport  # of the first row
    band: Band | None  # the error of what is needed
    rows: tuple[Row, ...]
    remedies: tuple[Remedy, ...]
    uses: tuple[Use, ...] = ()  # the smallest usual card for the same, and for narrower formats
    is_solved: bool = True  # for batch, context, number of devices, and what would help

    @property
    def verdict(self) -> Verdict:
        """The worst over all devices; tight and a certain no come before what nobody can say."""
        found = {row.verdict for row in self.rows}
        return next((one for one in WORST_FIRST if one in found), Verdict.FITS)

    def title(self) -> str:
        """The run in one line, as `archcalc memory` has it; of several devices what their runs share."""
        if len(self.rows) == 1:
            return self.memory.title()
        return replace(self.memory, cards="", choices=self._shared).title()

    @property
    def _shared(self) -> tuple[Choice, ...]:
        """What is the same on all devices."""
        every = [row.memory.choices for row in self.rows]
        return tuple(each for each in self.memory.choices if all(each in choices for choices in every))

    def answer(self) -> str:
        """The verdict, what is left or missing, and what would help; of several devices which it fits."""
        return on_one(self.rows[0]) if len(self.rows) == 1 else on_several(self.rows)

    def tone(self) -> Tone:
        """Of the answer, where it is one verdict."""
        found = {row.verdict.tone for row in self.rows}
        return found.pop() if len(found) == 1 else ""

    def beneath(self) -> Sequence[str]:
        """What was measured; how far it can grow; combinations of changes that would help; the smallest cards."""
        (first, *others) = self.rows
        found = self.memory.measured.lines() if self.memory.measured else []
        if first.pool and not others:
            image = self.marginals.image if self.marginals and first.pool.room > 0 else None
            found.append("; ".join(filter(None, (first.pool.line(), image and image.of_pool()))))
        elif self.marginals:
            found.append(self.marginals.line())
        if self.is_solved and not others and not first.host_missing and not first.is_enough:
            found += remedy_words.ways(first, self.remedies)
        return [*found, *filter(None, [smallest_card(self.uses)])]

    def clauses(self) -> tuple[str, ...]:
        """Of the sentence that heads every answer, the verdict first."""
        return tuple(filter(None, (self.answer(), at_once(self.rows), smallest_card(self.uses))))

    def summary(self) -> str:
        return joined(self.clauses())

    @property
    def marginals(self) -> Marginals | None:
        """What a little more takes, and on a single device what ends the growth there."""
        found, (first, *others) = self.memory.marginals, self.rows
        if not found or others or not self.is_solved:
            return found
        limits = list(first.pool.limits) if first.pool else []
        if not first.pool and first.max_batch is not None:
            limits.append(Limit("batch", "memory", first.max_batch))
        if not first.pool and first.limited_by and first.max_seq:
            limits.append(Limit("context", first.limited_by, first.max_seq))
        return replace(found, limits=tuple(limits) if first.is_enough else ())

    def figures(self) -> Sequence[Figure]:
        """The parts, in their order in the bars."""
        parts = enumerate(self.rows[0].segments.items())
        return tuple(Figure(name, size, "bytes", segment=place) for place, (name, size) in parts if size)

    def bar(self) -> Bar | None:
        """Of a single device."""
        (first, *others) = self.rows
        return None if others else Bar(first.segments, first.room.capacity)

    def columns(self) -> tuple[Column[Row], ...]:
        has_sizes = self.is_solved and not all(row.pool for row in self.rows)  # of a pool they have a table of its own
        shared, offloads, own = self._shared, bool(self.memory.host), dict[str, str]()
        for row in self.rows:  # what is not the same on all of them: `vLLM 0.33`
            differing = (each.words for each in row.memory.choices if each.words and each not in shared)
            own[row.gpu] = ", ".join(differing)
        return (
            Column("gpu", "gpu", "name"),
            Column("", "fits", "verdict", "verdict"),
            Column("capacity_bytes", "memory", "binary", "room.capacity"),
            Column("", "usage", "stack", lambda row: (tuple(row.segments.values()), row.room.capacity)),
            Column("", "left", "room", "left_bytes"),
            Column("", "host RAM", "binary", "memory.host_bytes", shown=offloads),
            *keys("required_bytes", "fits"),
            Column("max_batch", "batch", "bound", shown=has_sizes),
            Column("max_seq", "context", "bound", shown=has_sizes),
            Column("limited_by"),
            Column("gpus_needed", "GPUs", "bound", shown=self.is_solved),
            Column("remedy", get=lambda row: row.remedy.change.option if row.remedy else None),
            Column("verdict", get="verdict.value"),
            *keys("why", "left_bytes"),
            Column("host_bytes", get="memory.host_bytes"),
            Column("run_line", get=lambda row: row.memory.title()),
            Column("", "run", "text", lambda row: own[row.gpu], shown=any(own.values())),
        )

    def records(self) -> list[dict[str, Any]]:
        """With further keys of a row, where there is something to say."""
        found = super().records()
        for record, row in zip(found, self.rows, strict=True):
            record |= given(parts=records_of(PARTS, row.parts) or None, host_capacity_bytes=row.host_capacity)
            record |= given(startup=list(row.startup) or None, not_counted=row.room.missing or None)
            record |= {**row.pool.record(), "kv_pool_band": row.pool_band} if row.pool else {}
        return found

    def more(self) -> Sequence[Table]:
        """What each device holds of split layers, the pools of engines, and what would help, cheapest first."""
        found = [table_of(PARTS, row.parts) for row in self.rows if row.parts]
        pools = [(row.gpu, row.pool) for row in self.rows if row.pool and len(self.rows) > 1]
        listed = [one for one in self.remedies if one.changes == 1]
        if pools:
            found.append(table_of(POOL, pools))
        if listed:
            found.append(table_of(remedy_words.columns(self.rows, listed), listed))
        return found

    def facts(self) -> dict[str, Any]:
        asked, host = self.memory.facts(), self.memory.host
        offloaded = host.record() if host else {}
        marginals = self.marginals.record() if self.marginals else None
        return {
            "summary": self.summary(),
            **{key: asked[key] for key in ("model", "mode", "batch", *self.memory.lengths, *ASKED)},
            "run": run_record(self.title(), self._shared),
            **self.scope.record(),
            **offloaded,
            **given(measured=asked.get("measured")),
            "marginals": marginals,
            "parts": self.memory.parts,
            "estimates": list(self.memory.estimates),
            "band": self.band.fraction if self.band else None,
        }

    def details(self) -> dict[str, Any]:
        return {
            "remedies": records_of(remedy_words.columns(self.rows, self.remedies), self.remedies),
            "smallest_cards": records_of(USES, self.uses),
        }
