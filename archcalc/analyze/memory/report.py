"""The report of `archcalc memory`: memory on each GPU at the peak, by part and by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from archcalc.analyze.memory.claims import NOTHING_CLAIMED, Claims
from archcalc.analyze.memory.host import Host
from archcalc.analyze.memory.layer_table import SIZE, LayerTable
from archcalc.analyze.memory.marginals import Marginals, recorded
from archcalc.analyze.memory.replicated import Undivided, records
from archcalc.analyze.memory.rows import Row
from archcalc.core.later import Later
from archcalc.core.mesh import Plan
from archcalc.report.base import SCHEMA_VERSION, Column, Figure, Line, Report, Table
from archcalc.report.picture import Skyline, Stretch
from archcalc.run.accuracy import Band
from archcalc.run.choice import MODE_WORDS, Choice, run_line, run_record
from archcalc.run.device.host import CPU
from archcalc.run.size_choices import shown_sizes
from archcalc.simulate.levels import Snapshot
from archcalc.simulate.reserved import DeviceMemory
from archcalc.simulate.timeline import Stage
from archcalc.spec.units import binary_bytes, decimal_bytes

PARTS = {
    "weights": "weights",
    "adapters": "LoRA adapters",
    "draft": "draft weights",
    "reference": "reference weights",
    "rollout": "rollout weights",
    "master": "master weights",
    "gradients": "gradients",
    "optimizer": "optimizer states",
    "activations": "activations",
    "logits": "logits and loss",
    "temporary": "temporary",
    "buffers": "buffers",
    "kv_cache": "KV cache",
    "state": "recurrent state",
    "draft_cache": "draft KV cache",
    "rollout_cache": "rollout KV cache",
    "overhead": "overhead",
}
USUAL_DEPTH, EVERY_DEPTH = 3, 99
WHOLE = {"step": "optimizer", "reference": "logits", "rollout": "generation"}  # what a phase does outside of layers


@dataclass(frozen=True)
class MemoryReport(Report):
    command: ClassVar[str] = "memory"
    chart: ClassVar[str] = "timeline"
    mode: str
    batch: int
    lengths: dict[str, int]
    context: int  # tokens that are cached before the one that is decoded
    plan: Plan
    peak: Snapshot
    instants: tuple[Snapshot, ...]
    states: dict[str, int]  # weights, master, gradients and optimizer when all of them are there
    padding: int  # what FSDP2 allocates and never fills, over all GPUs
    rows: tuple[Row, ...]
    choices: tuple[Choice, ...]  # of the run, sizes and plan among them
    estimates: tuple[str, ...]
    undivided: tuple[Undivided, ...] = ()
    elsewhere: dict[str, int] = field(default_factory=dict)  # what needs GPUs of its own, on each of them
    cards: str = ""  # that it runs on, where they were named
    kind: str = ""  # of these
    weights: str = ""  # their format
    depth: int = USUAL_DEPTH
    timeline: bool = False
    trainable: int = 0  # parameters, of the whole model or of a stage of a pipeline
    frozen: int = 0
    device: Later[DeviceMemory] | None = field(default=None, compare=False)
    outside: int = 0  # of the device, beyond the share that an engine fills
    claims: Claims = NOTHING_CLAIMED
    host: Host | None = None  # what is offloaded
    stages: Later[tuple[Stage, ...]] | None = field(default=None, compare=False, repr=False)  # the step in more detail
    growth: Later[Marginals] | None = field(default=None, compare=False, repr=False)

    @property
    def band(self) -> Band | None:
        """The error of measured runs."""
        return self.claims.measured

    @property
    def parts(self) -> dict[str, int]:
        """Bytes by part at the peak; they add up to the total."""
        return self.peak.parts

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
    def host_bytes(self) -> int:
        """Host RAM of what is offloaded, of all GPUs together."""
        return self.host.bytes if self.host else 0

    def title(self) -> str:
        """The run in one line: what was asked for, then what was assumed."""
        return run_line((self.model, MODE_WORDS.get(self.mode, self.mode)), self.choices, self.cards)

    def at(self) -> tuple[str, ...]:
        """The sizes and the plan: `batch 1`, `seq 2,048`, `tp 2`."""
        names = (*shown_sizes(self.batch, self.lengths, self.context, decodes=self.mode == "decode"), "plan")
        return tuple(each.words for each in self.choices if each.name in names)

    def answer(self) -> str:
        where = "on each GPU" if self.plan.gpus > 1 else "on one GPU"
        where = "of RAM" if self.kind == CPU else where
        about = "about " if self.estimates or self.device else ""
        size, beside = self.required_bytes, self.parts["overhead"]
        apart = f"{decimal_bytes(self.own_bytes)} + {decimal_bytes(beside)} overhead = " if beside else ""
        exact = binary_bytes(size) if self.device else f"{size:,} bytes · {binary_bytes(size)}"
        within = f" · ± {self.band.percent} %" if self.band else ""
        host = f" · {decimal_bytes(self.host_bytes)} of host RAM" if self.host else ""
        return f"{about}{apart}{decimal_bytes(size)} {where} · {exact}{within}{host}"

    @property
    def marginals(self) -> Marginals | None:
        """What a little more takes; None for a list of tensors, of which it is not known what they compute."""
        return self.growth.value if self.growth else None

    def beneath(self) -> Sequence[str]:
        return [self.marginals.line()] if self.marginals else []

    def figures(self) -> list[Figure]:
        """Bytes of weights, gradients and optimizer states over the whole step."""
        offloaded = [*(self.host.figures() if self.host else ()), *self._given_out()]
        if self.mode != "train":
            return offloaded
        whole = Figure("weights and states", sum(self.states.values()), "bytes")
        padding = Figure("padding, all GPUs", self.padding, "bytes", "FSDP2 gives every GPU the same number of rows")
        others = [Figure(f"{name}, on its own GPU", size, "bytes") for name, size in self.elsewhere.items()]
        return [*self._on_device(), whole, *self._trained(), *([padding] if self.padding else []), *offloaded, *others]

    def _given_out(self) -> list[Figure]:
        """Of all layers, where the table has them and nothing is cached."""
        whole = self.rows[0] if self.rows else None
        if whole is None or not whole.outputs or self._layers.kind == "cache":
            return []
        made = Figure("outputs of all layers", whole.outputs, note=decimal_bytes(whole.output_bytes))
        return [made, Figure("parameters", whole.parameters)] if self.mode != "train" else [made]

    def _trained(self) -> list[Figure]:
        """How many parameters, where not all of them are trained."""
        numbers = {"trainable parameters": self.trainable, "frozen parameters": self.frozen}
        return [Figure(name, number) for name, number in numbers.items()] if self.frozen else []

    def _on_device(self) -> Iterator[Figure]:
        """From the bytes of tensors to what is taken from the device."""
        if not self.device:
            return
        yield Figure("allocated", self.allocated_bytes, "bytes")
        yield Figure("reserved", self.reserved_bytes, "bytes")

    def table(self) -> Table:
        """Bytes by part at the peak."""
        first = f"peak: {instant_name(self.peak)}" if self.mode == "train" else "part"
        lines = [self._part_line(part, size) for part, size in self.parts.items() if size and part != "overhead"]
        lines += [self._line(name, size) for name, size in self._beside_tensors().items() if size]
        lines += [self._part_line("overhead", self.parts["overhead"])] if self.parts["overhead"] else []
        return Table((Column(first, "name"), *SIZE, Column("share", "share")), tuple(lines))

    def _beside_tensors(self) -> dict[str, int]:
        """What the allocator takes beyond the bytes of the tensors, or an engine leaves of the device."""
        if not self.device:
            return {"outside the engine's share": self.outside}
        found = self.device.value
        unused = {f"not in use, {stream.words} stream": size for stream, size in found.unused.items()}
        return {"rounding": found.rounding, **unused}

    def more(self) -> Sequence[Table]:
        return [*([self.host.table()] if self.host else []), self._by_layer()]

    def _by_layer(self) -> Table:
        """Memory over the step, or of each layer."""
        if self.timeline:
            over = (Column("timeline", "name"), *SIZE, Column("of the peak", "share"))
            return Table(over, tuple(self._timeline_lines()), self._skyline())
        return self._layers.table()

    @property
    def _layers(self) -> LayerTable:
        return LayerTable(self.rows, self.mode == "train", self.own_bytes, self.depth)

    def _skyline(self) -> Skyline | None:
        """None for a model that computes nothing."""
        if self.peak not in self.instants:
            return None
        shown = [stage.instant for stage in self.stages.value] if self.stages else list(self.instants)
        stretches = tuple(Stretch(one.phase, stretch_name(one), one.bytes) for one in shown)
        throughout = sum(min(one.parts[part] for one in shown) for part in self.parts)
        return Skyline(stretches, shown.index(self.peak), throughout)

    def _part_line(self, part: str, size: int) -> Line:
        """Overhead is no part of what the model takes, and so has no share in it."""
        if part == "overhead":
            return Line((PARTS[part], size, size, None), flag="estimate")
        return self._line(PARTS[part], size)

    def _line(self, name: str, number: int) -> Line:
        return Line((name, number, number, number / self.own_bytes if self.own_bytes else 0.0))

    def _timeline_lines(self) -> Iterator[Line]:
        """The peak within each phase and module of the step."""
        phase = ""
        for instant in self.instants:
            if instant.phase != phase:
                phase = instant.phase
                yield Line((phase, None, None, None), heading=True)
            size = instant.bytes
            yield Line((stretch_name(instant), size, size, size / max(self.required_bytes, 1)), 1)

    def record(self) -> dict[str, Any]:
        band = self.band.fraction if self.band else None
        trained = {"trainable": self.trainable, "frozen": self.frozen} if self.mode == "train" else {}
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "run": run_record(self.title(), self.choices),
            **self.scope.record(),
            "mode": self.mode,
            "batch": self.batch,
            **self.lengths,
            **({"context": self.context} if self.mode == "decode" else {}),
            **self.plan.record(),
            "weights_format": self.weights,
            "total_bytes": self.total_bytes,
            "required_bytes": self.required_bytes,
            "band": band,
            "claims": self.claims.record(),
            **self._device_record(),
            **self._host_record(),
            "marginals": recorded(self.marginals),
            "parts": self.parts,
            "peak": {"phase": self.peak.phase, "path": self.peak.place.path or "model"},
            "states": self.states,
            **trained,
            "padding_bytes": self.padding,
            "not_divided": records(self.undivided),
            "elsewhere": self.elsewhere,
            "estimate": bool(self.estimates),
            "estimates": list(self.estimates),
            "assumptions": self.assumed(),
            "timeline": [self._instant_record(instant) for instant in self.instants],
            "rows": [self._row_record(row) for row in self.rows],
        }

    def _host_record(self) -> dict[str, Any]:
        return self.host.record() if self.host else {}

    def _device_record(self) -> dict[str, Any]:
        if not self.device:
            return {}
        found = self.device.value
        return {
            "allocated_bytes": found.allocated,
            "reserved_bytes": found.reserved,
            "rounding_bytes": found.rounding,
            "unused_bytes": {stream.name.lower(): size for stream, size in found.unused.items()},
        }

    def _instant_record(self, instant: Snapshot) -> dict[str, Any]:
        return {"phase": instant.phase, "path": instant.place.path or "model", "bytes": instant.bytes}

    def _row_record(self, row: Row) -> dict[str, Any]:
        named = {"path": row.path, "kind": row.kind, "repeat": row.repeat, "bytes": row.bytes, **row.parts}
        return {**named, "outputs": row.outputs, "output_bytes": row.output_bytes, "parameters": row.parameters}


def stretch_name(instant: Snapshot) -> str:
    """The layer, or what a whole step does."""
    return instant.place.path or WHOLE.get(instant.phase, "loss")


def instant_name(instant: Snapshot) -> str:
    """`backward, loss`, `step`."""
    name = stretch_name(instant)
    return instant.phase if instant.phase in ("step", "loss") else f"{instant.phase}, {name}"
