"""One device, or several that hold a model together: what is needed there, what fits, and what would help."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.analyze.fit.kv_pool import KvPool
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.fit.verdict import Room, Verdict
from archcalc.analyze.memory.report import MemoryReport
from archcalc.spec.units import binary_bytes

SEGMENTS = {  # of a device's bar, and the parts of memory that each has
    "weights": ("weights", "adapters", "draft", "reference", "rollout"),
    "optimizer": ("master", "gradients", "optimizer"),
    "activations": ("activations", "logits", "temporary", "buffers"),
    "cache": ("kv_cache", "state", "draft_cache", "rollout_cache"),
    "overhead": ("overhead",),
}


@dataclass(frozen=True)
class Part:
    """One of several devices among which layers are split."""

    gpu: str
    layers: tuple[int, int]  # from the first on, up to the last, not included
    room: Room
    required_bytes: int

    @property
    def verdict(self) -> Verdict:
        return self.room.verdict(self.required_bytes)

    @property
    def left_bytes(self) -> int:
        return self.room.capacity - self.required_bytes


@dataclass(frozen=True)
class Row:
    """One device. None: not bounded, or no number is enough."""

    gpu: str
    room: Room
    required_bytes: int
    memory: MemoryReport
    cached_bytes: int = 0  # of what is required, beyond what is allocated: PyTorch's allocator frees it before it fails
    max_batch: int | None = None
    max_seq: int | None = None
    limited_by: str | None = None
    gpus_needed: int | None = None
    remedy: Remedy | None = None
    devices: int = 1  # that hold the model together
    parts: tuple[Part, ...] = ()
    pool: KvPool | None = None  # of an engine that fills the device
    startup: tuple[str, ...] = ()  # what the engine prints of its memory
    host_capacity: int | None = None  # of host memory; None: not asked about
    host_missing: int = 0  # bytes that are needed there beyond it

    @property
    def capacity_bytes(self) -> int:
        return self.room.capacity

    @property
    def left_bytes(self) -> int:
        return self.room.capacity - self.required_bytes

    @property
    def verdict(self) -> Verdict:
        """Of split layers, that of the fullest device."""
        order = list(Verdict)
        found = [one.verdict for one in self.parts] or [self.room.verdict(self.required_bytes, self.cached_bytes)]
        return Verdict.NOT if self.host_missing else max(found, key=order.index)

    @property
    def is_enough(self) -> bool:
        """Whether every device surely holds all that is counted, which may be a part of the model."""
        found = [(one.required_bytes, one.room) for one in self.parts] or [(self.required_bytes, self.room)]
        return all(required <= room.safe for required, room in found)

    @property
    def segments(self) -> dict[str, int]:
        """The parts of memory as bars show them; of split layers, what is on every device counts so often."""
        beyond = "not used by the engine" if self.pool else "reserved but unallocated"
        beyond = "on further devices" if self.parts else beyond
        # an overhead below 0, where a measured run took less than is counted, has no bar
        found = {name: max(sum(self.memory.parts[part] for part in parts), 0) for name, parts in SEGMENTS.items()}
        return {**found, beyond: max(self.required_bytes - self.memory.total_bytes, 0)}

    @property
    def why(self) -> str:
        """The reason of the verdict, in a sentence."""
        needed, there = binary_bytes(self.required_bytes), binary_bytes(self.room.capacity)
        return f"needs {needed} of {there}: {self.told()}"

    def told(self, *, briefly: bool = False) -> str:
        """What is left, or missing: of the host, where that lacks memory; of all devices together, or of the one that
        decides, where together they have enough."""
        if self.host_missing:
            return f"{binary_bytes(self.host_missing)} of host RAM are missing"
        fullest = next((one for one in self.parts if one.verdict is self.verdict), None)
        if fullest is None or self.room.verdict(self.required_bytes, self.cached_bytes) is self.verdict:
            return self.room.why(self.required_bytes, self.cached_bytes, briefly=briefly)
        return f"on {fullest.gpu} {fullest.room.why(fullest.required_bytes, briefly=briefly)}"

    @property
    def fits(self) -> bool | None:
        """Surely or within the error band; None where archcalc cannot say."""
        return None if self.verdict is Verdict.CANNOT_SAY else self.verdict is not Verdict.NOT

    @property
    def pool_band(self) -> float | None:
        """The error of the pool, as a share of it: a band is about the memory of the whole device. None where parts of
        the model are not counted, which take their share of it."""
        if not self.pool or self.pool.room <= 0 or self.room.percent is None or self.room.missing:
            return None
        return self.room.percent / 100 * self.room.capacity / self.pool.room
