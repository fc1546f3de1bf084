"""The report of `archcalc memory`: memory on each GPU at the peak, by part and by layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from archcalc.analyze.memory.alive_table import alive_table
from archcalc.analyze.memory.claims import NOTHING_CLAIMED, Claims
from archcalc.analyze.memory.host import Host
from archcalc.analyze.memory.marginals import Marginals
from archcalc.analyze.memory.measured_run import Compared
from archcalc.analyze.memory.parts import PARTS, WHOLE
from archcalc.analyze.memory.replicated import Undivided
from archcalc.analyze.memory.rows import NOTHING, OF_LAYERS, Row
from archcalc.analyze.memory.tables import BOTH_SIZES, part_table
from archcalc.analyze.memory.timeline import Timeline
from archcalc.analyze.memory.why_peak import why_peak
from archcalc.core.later import Later
from archcalc.report.base import Figure, given
from archcalc.report.of_run import RunReport
from archcalc.report.picture import Skyline, Stretch
from archcalc.report.table import Column, Line, Table, cells_of, heading, in_tables, keys
from archcalc.report.tree import outline
from archcalc.run.accuracy import Band
from archcalc.run.device.host import CPU
from archcalc.simulate.events import Stream
from archcalc.simulate.levels import Snapshot
from archcalc.simulate.reserved import DeviceMemory
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.memory.what_if import WhatIf

USUAL_DEPTH, EVERY_DEPTH = 3, 99
NO_ROW = Row("", "", 1, 1, NOTHING)


@dataclass(frozen=True)
class MemoryReport(RunReport):
    command: ClassVar[str] = "memory"
    chart: ClassVar[str] = "timeline"
    peak: Snapshot
    parts: dict[str, int]  # bytes by part at the peak, which add up to the total
    instants: tuple[Snapshot, ...]
    states: dict[str, int]  # weights, master, gradients and optimizer when all of them are there
    padding: int  # what FSDP2 allocates and never fills, over all GPUs
    rows: tuple[Row, ...]
    layer_kind: str  # which columns rows have: train, cache or outputs
    estimates: tuple[str, ...]
    undivided: tuple[Undivided, ...] = ()
    elsewhere: dict[str, int] = field(default_factory=dict)  # what needs GPUs of its own, on each of them
    kind: str = ""  # of the devices
    depth: int = USUAL_DEPTH
    timeline: bool = False
    trainable: int = 0  # parameters, of the whole model or of a stage of a pipeline
    frozen: int = 0
    device: Later[DeviceMemory] | None = field(default=None, compare=False)
    outside: int = 0  # of the device, beyond the share that an engine fills
    claims: Claims = NOTHING_CLAIMED
    host: Host | None = None  # what is offloaded
    measured: Compared | None = None  # what somebody's run took, beside what is counted of it
    stages: Later[tuple[Snapshot, ...]] | None = field(default=None, compare=False, repr=False)  # in more detail
    growth: Later[Marginals] | None = field(default=None, compare=False, repr=False)
    ops: Later[Timeline] | None = field(default=None, compare=False, repr=False)  # op by op
    what_if: Later[WhatIf] | None = field(default=None, compare=False, repr=False)  # with other options

    @property
    def band(self) -> Band | None:
        """The error of measured runs."""
        return self.claims.measured

    @property
    def total_bytes(self) -> int:
        """Peak bytes of one GPU, the one with the most."""
        return self.peak.bytes

    @property
    def allocated_bytes(self) -> int:
        """The tensors at the peak as PyTorch counts them in memory_allocated, without the overhead."""
        return self.device.value.allocated if self.device else self.total_bytes - self.parts["overhead"]

    @property
    def reserved_bytes(self) -> int:
        """What PyTorch's allocator has taken from the device by then; without the overhead."""
        return self.device.value.reserved if self.device else self.allocated_bytes

    @property
    def required_bytes(self) -> int:
        """What a device must have: reserved memory and overhead in training, else the tensors and the overhead, and of
        an engine that fills a share of the device what is outside of it."""
        return self.reserved_bytes + self.parts["overhead"] if self.device else self.total_bytes + self.outside

    @property
    def own_bytes(self) -> int:
        """The same without the runtime's overhead."""
        return self.required_bytes - self.parts["overhead"]

    @property
    def _shift(self) -> int:
        """What a measured run took beyond all that is counted; a part of the overhead."""
        return self.measured.shift if self.measured else 0

    @property
    def host_bytes(self) -> int:
        """Host RAM of what is offloaded, of all GPUs together."""
        return self.host.bytes if self.host else 0

    def at(self) -> tuple[str, ...]:
        """The sizes and the plan: `batch 1`, `seq 2,048`, `tp 2`."""
        return tuple(each.words for each in self.choices if each.name in (*BOTH_SIZES, "plan"))

    def answer(self) -> str:
        size, *others = self.in_short()
        return " · ".join(dict.fromkeys((size, self._in_parts, *others)))

    def in_short(self) -> tuple[str, ...]:
        """What a device must have, to the byte where that is known, and host RAM."""
        where = "on each GPU" if self.plan.gpus > 1 else "on one GPU"
        if self.kind == CPU:
            where = "of RAM"
        about = "about " if self.estimates or self.device else ""
        band = f" ± {self.band.percent} %" if self.band else ""
        told = [f"{about}{binary_bytes(self.required_bytes)} {where}{band}"]
        if not self.device:
            told.append(f"{self.required_bytes:,} bytes")
        if self.host:
            told.append(f"{binary_bytes(self.host_bytes)} of host RAM")
        return tuple(told)

    @property
    def _in_parts(self) -> str:
        """`15.39 GiB + 512.0 MiB overhead`."""
        overhead, parts = self.parts["overhead"] - self._shift, binary_bytes(self.own_bytes)
        if overhead:
            parts += f" + {binary_bytes(overhead)} overhead"
        if self._shift:
            parts += f" {'−' if self._shift < 0 else '+'} {binary_bytes(abs(self._shift))} as measured"
        return parts

    def why(self) -> str:
        """Why the peak is where it is, in one sentence."""
        return why_peak(self.ops.value, PARTS) if self.ops else ""

    @property
    def marginals(self) -> Marginals | None:
        """What a little more takes; None for a list of tensors, of which it is not known what they compute."""
        return self.growth.value if self.growth else None

    def beneath(self) -> Sequence[str]:
        found = list[str]()
        if self.measured:
            found += self.measured.lines()
        if self.marginals:
            found.append(self.marginals.line())
        return found

    def figures(self) -> list[Figure]:
        """Bytes of weights, gradients and optimizer states over the whole step; then what is in host RAM or elsewhere,
        and what all layers give out."""
        trains = self.mode == "train"
        whole = self.rows[0] if self.rows and self.layer_kind != "cache" else NO_ROW
        padded = "FSDP2 gives every GPU the same number of rows"
        listed: list[tuple[object, Figure]] = [
            (trains and self.device, Figure("allocated", self.allocated_bytes, "bytes")),
            (trains and self.device, Figure("reserved", self.reserved_bytes, "bytes")),
            (trains, Figure("weights and states", sum(self.states.values()), "bytes")),
            (trains and self.frozen, Figure("trainable parameters", self.trainable)),
            (trains and self.frozen, Figure("frozen parameters", self.frozen)),
            (trains and self.padding, Figure("padding, all GPUs", self.padding, "bytes", padded)),
            *((True, figure) for figure in (self.host.figures() if self.host else ())),
            (whole.outputs, Figure("outputs of all layers", whole.outputs, note=binary_bytes(whole.output_bytes))),
            (whole.outputs and not trains, Figure("parameters", whole.parameters)),
            *((trains, Figure(f"{name}, on its own GPU", size, "bytes")) for name, size in self.elsewhere.items()),
        ]
        return [figure for wanted, figure in listed if wanted]

    def table(self) -> Table:
        """Bytes by part at the peak, then what the allocator takes beyond the bytes of the tensors, or an engine leaves
        of the device; overhead is no part of what the model takes, and so has no share in it."""
        first = f"peak: {instant_name(self.peak)}" if self.mode == "train" else "part"
        sizes = {PARTS[part]: size for part, size in self.parts.items() if part != "overhead"}
        if self.device:
            sizes["rounding"] = self.device.value.allocated - self.device.value.tensors
            sizes |= self._unallocated(self.device.value.unused)
        else:
            sizes["not used by the engine"] = self.outside
        found, overhead = part_table(first, sizes, self.own_bytes), self.parts["overhead"] - self._shift
        lines = [*found.lines]
        if overhead:
            lines.append(Line((PARTS["overhead"], overhead, overhead, None), flag="estimate"))
        if self._shift:
            lines.append(Line(("as measured", self._shift, self._shift, None)))
        return found._replace(lines=tuple(lines))

    @staticmethod
    def _unallocated(unused: Mapping[Stream, int]) -> dict[str, int]:
        """What is reserved and holds no tensor: by stream, as streams lend each other nothing."""
        if len(unused) == 1:
            return {"reserved but unallocated": sum(unused.values())}
        return {f"unallocated, {one.name.lower().replace('_', '-')} stream": size for one, size in unused.items()}

    def columns(self) -> tuple[Column[Row], ...]:
        saves, made, caches = (self.layer_kind == kind for kind in ("train", "outputs", "cache"))
        whole = self.rows[0].outputs if made else self.own_bytes  # which the layers are shares of
        states = partial(_bytes_of, ["master", "gradients", "optimizer"])
        has_maps = not self.lengths  # people compare the outputs of such layers, and of sequences what they take
        return (
            *keys("path", "kind", "repeat", "bytes"),
            *(Column(part, get=partial(_bytes_of, [part])) for part in OF_LAYERS),
            *keys("outputs", "output_bytes", "parameters"),
            Column("", "layer", "name", "title"),
            Column("", "×", "times", "times"),
            Column("", "memory", "bytes", "bytes", shown=caches or saves),
            Column("", "saved", "bytes", partial(_bytes_of, ["activations", "logits"]), shown=saves),
            Column("", "outputs", "count", "outputs", shown=made),
            Column("", "memory", "bytes", "output_bytes", shown=made),
            Column("", "parameters", "count", "parameters", shown=made),
            Column("", "weights", "bytes", partial(_bytes_of, ["weights"]), spare=has_maps),
            Column("", "states", "bytes", states, shown=saves, spare=has_maps),
            Column("", "cache", "bytes", partial(_bytes_of, ["kv_cache", "state"]), shown=caches),
            Column("", "outputs", "count", "outputs", shown=saves, spare=not has_maps),
            Column("", "share", "share", "bytes", whole=whole, shown=not made),
            Column("", "share", "share", "outputs", whole=whole, shown=made),
        )

    def more(self) -> Sequence[Table]:
        """What is offloaded; then memory over the step, or of each layer that has memory, or gives something out where
        nothing is cached."""
        offloaded = [self.host.table()] if self.host else []
        if self.timeline:
            return [*offloaded, *self._at_peak(), self._over_step()]
        columns, of_outputs = in_tables(self.columns()), self.layer_kind != "cache"
        sizes = [row.bytes + row.outputs * of_outputs for row in self.rows]
        lines = [
            Line(cells_of(columns, row), depth)
            for row, depth in outline(self.rows, sizes)
            if depth < self.depth and (row.bytes or row.outputs * of_outputs)
        ]
        return [*offloaded, Table(columns, tuple(lines))]

    def _at_peak(self) -> Iterator[Table]:
        """A picture of the step, and what is alive at its peak, unless the model computes nothing."""
        if self.ops and self.ops.value.ops:
            shown = list(self.stages.value if self.stages else self.instants)
            stretches = tuple(Stretch(one.phase, stretch_name(one), one.bytes) for one in shown)
            throughout = sum(min(one.parts[part] for one in shown) for part in self.parts)
            picture = Skyline(stretches, shown.index(self.peak), throughout, self.why())
            yield alive_table(self.ops.value, PARTS)._replace(picture=picture)

    def _over_step(self) -> Table:
        """The peak within each phase and module of the step."""
        columns: tuple[Column[Any], ...] = (
            Column("", "timeline", "name"),
            *BOTH_SIZES,
            Column("", "of the peak", "share"),
        )
        lines = []
        for phase, instants in groupby(self.instants, key=lambda instant: instant.phase):
            lines.append(heading(phase, columns))
            for one in instants:
                share = one.bytes / max(self.required_bytes, 1)
                lines.append(Line((stretch_name(one), one.bytes, one.bytes, share), 1))
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        trained, on_device = dict[str, int](), dict[str, Any]()
        if self.mode == "train":
            trained = {"trainable": self.trainable, "frozen": self.frozen}
        if self.device:
            found = self.device.value
            unused = {stream.name.lower(): size for stream, size in found.unused.items()}
            on_device = {"allocated_bytes": found.allocated, "reserved_bytes": found.reserved}
            on_device |= {"rounding_bytes": found.allocated - found.tensors, "unused_bytes": unused}
        return {
            **super().facts(),
            "total_bytes": self.total_bytes,
            "required_bytes": self.required_bytes,
            "band": self.band and self.band.fraction,
            **given(bands=self.claims.of_figures or None),
            "claims": self.claims.record(),
            **on_device,
            **(self.host.record() if self.host else {}),
            **given(measured=self.measured and self.measured.record()),
            "marginals": self.marginals and self.marginals.record(),
            "parts": self.parts,
            "peak": {"phase": self.peak.phase, "path": self.peak.place.path or "model"},
            "states": self.states,
            **trained,
            "padding_bytes": self.padding,
            "not_divided": [asdict(one) for one in self.undivided],
            "elsewhere": self.elsewhere,
            "estimate": bool(self.estimates),
            "estimates": list(self.estimates),
        }

    def details(self) -> dict[str, Any]:
        timeline = [
            {"phase": one.phase, "path": one.place.path or "model", "bytes": one.bytes} for one in self.instants
        ]
        if not (self.timeline and self.ops):
            return {"timeline": timeline}
        return {"timeline": timeline, "op_by_op": {"why": self.why(), **self.ops.value.record()}}


def stretch_name(instant: Snapshot) -> str:
    """The layer, or what a whole step does."""
    return instant.place.path or WHOLE.get(instant.phase, "loss")


def instant_name(instant: Snapshot) -> str:
    """`backward, loss`, `step`."""
    name = stretch_name(instant)
    return instant.phase if instant.phase in ("step", "loss") else f"{instant.phase}, {name}"


def _bytes_of(parts: Sequence[str], row: Row) -> int:
    return sum(row.parts[part] for part in parts)
