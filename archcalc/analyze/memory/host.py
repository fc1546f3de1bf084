"""Host RAM as a second column: what is kept there, and what crosses the bus between it and each GPU in a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from archcalc.analyze.memory.tables import part_table
from archcalc.report.base import Figure
from archcalc.report.table import Table

PARTS = {
    "weights": "weights",
    "master": "master weights",
    "gradients": "gradients",
    "optimizer": "optimizer states",
    "staging": "staging buffers",
    "activations": "activations",
    "kv_cache": "KV cache",
    "state": "recurrent state",
    "pinned": "rounding of pinned memory",
    "freed": "pinned memory that is free",
    "buffers": "compute buffer of the host",
}


class Crossing(NamedTuple):
    """Bytes of one step that cross the bus of one GPU."""

    to_gpu: int = 0
    to_host: int = 0


@dataclass(frozen=True)
class Host:
    """`each` has the bytes of one GPU's process by part; there are `processes` of them, each with as much."""

    each: dict[str, int]
    processes: int = 1
    crossing: Crossing = field(default_factory=Crossing)

    @property
    def parts(self) -> dict[str, int]:
        return {part: self.processes * self.each[part] for part in PARTS if self.each.get(part)}

    @property
    def bytes(self) -> int:
        return sum(self.parts.values())

    def figures(self) -> Iterator[Figure]:
        """Of all GPUs together, and of the bus of one of them."""
        together = f"of the processes of {self.processes:,} GPUs together" if self.processes > 1 else ""
        yield Figure("host memory", self.bytes, "bytes", together)
        yield Figure("to the GPU, a step", self.crossing.to_gpu, "bytes", "crosses the bus of each GPU")
        yield Figure("to the host, a step", self.crossing.to_host, "bytes", "crosses the bus of each GPU")

    def table(self) -> Table:
        return part_table("in host RAM", {PARTS[part]: number for part, number in self.parts.items()}, self.bytes)

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "host_bytes": self.bytes,
            "host_parts": self.parts,
            "host_processes": self.processes,
            "transferred": {"to_gpu_bytes": self.crossing.to_gpu, "to_host_bytes": self.crossing.to_host},
        }
