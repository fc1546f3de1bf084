"""What somebody's run took, held against what is counted: which parts are as large as the difference.

    against(report, options.measured).lines()

A total cannot tell what it is made of: nothing here is said as certain. The difference shifts the overhead of the run
(`Run.shift`), so that the rest of the answer begins from what was measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from archcalc.spec.data_files import shipped
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.memory.report import MemoryReport
    from archcalc.run.engine.running import Running

NEAR = 0.1  # of a part: a difference that is as large
DRIVER = "nvidia-smi"
AGAIN = {  # what a run may hold once more, by part
    "weights": "the weights once more (in fp32 instead of 16 bits, or a second copy)",
    "master": "the master weights once more",
    "gradients": "the gradients once more (in fp32, or added up over micro-batches)",
    "optimizer": "the optimizer states once more",
    "activations": "the activations once more (stored instead of recomputed, or in fp32)",
    "logits": "the logits once more (a copy in fp32)",
    "kv_cache": "the KV cache once more",
    "reference": "the reference weights once more",
}
MISSING = "the {}, which may have been recomputed, or not there when it was measured"


class Measured(NamedTuple):
    """Who counted, and how many bytes on a GPU."""

    by: str  # nvidia-smi, or PyTorch: allocated, reserved
    bytes: int


@dataclass(frozen=True)
class Compared:
    """A measured run beside the same figure as it is counted. `fills` is the engine that fills a device."""

    measured: Measured
    counted: int
    likely: tuple[str, ...]  # what is as large as the difference
    fills: str = ""

    @property
    def difference(self) -> int:
        return self.measured.bytes - self.counted

    @property
    def shift(self) -> int:
        """What the rest of the answer is moved by; a device that is filled says nothing about the model."""
        return 0 if self.fills else self.difference

    def lines(self) -> list[str]:
        first = f"measured: {binary_bytes(self.measured.bytes)} by {self.measured.by}"
        if self.fills:
            return [f"{first}, which says nothing about the model: {self.fills}"]
        more = "more" if self.difference > 0 else "less"
        said = f"{first}, {binary_bytes(abs(self.difference))} {more} than the {binary_bytes(self.counted)} counted"
        if not self.difference:
            return [f"{first}, as it is counted"]
        return [f"{said}; as large as {', or '.join(self.likely) if self.likely else 'no part that is known here'}"]

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        found = {"by": self.measured.by, "bytes": self.measured.bytes, "counted_bytes": self.counted}
        return {**found, "difference_bytes": self.difference, "shift_bytes": self.shift, "likely": list(self.likely)}


def against(report: MemoryReport, given: tuple[str, int], engine: Running) -> Compared:
    """The report is that of the run which was measured."""
    measured = Measured(*given)
    counts = {DRIVER: report.required_bytes, "allocated": report.allocated_bytes, "reserved": report.reserved_bytes}
    counted, fills = counts[measured.by], ""
    if engine.fills_device:
        fills = f"{engine.rules.name} fills {100 * engine.share:.0f} % of the card whatever the model needs"
    return Compared(measured, counted, tuple(_likely(report, measured, measured.bytes - counted)), fills)


def _likely(report: MemoryReport, measured: Measured, difference: int) -> Iterator[str]:
    """From the likeliest on."""
    if report.band and abs(difference) <= report.band.fraction * report.required_bytes:
        yield f"the error of measured runs (± {report.band.percent} %)"
    yield from _parts(report, difference)
    if measured.by == DRIVER and difference > 0:
        known = shipped("runtime", "beyond_pytorch")
        if difference + report.parts["overhead"] <= known["most"]:
            ends = f"{binary_bytes(known['least'])} to {binary_bytes(known['most'])}"
            yield f"what other runs took beyond PyTorch ({ends}: {known['name']})"
    passing = sum(report.parts[part] for part in ("activations", "logits", "temporary"))
    if measured.by != "allocated" and report.device is None and 0 < difference <= passing:
        yield "blocks that PyTorch's allocator keeps for later, which are not counted in inference"


def _parts(report: MemoryReport, difference: int) -> Iterator[str]:
    """Parts that are about as large as the difference, the nearest first."""
    from archcalc.analyze.memory.report import PARTS

    sizes = {part: size for part, size in report.parts.items() if size and part in AGAIN}
    near = {part: abs(abs(difference) / size - 1) for part, size in sizes.items()}
    for part in sorted((part for part in near if near[part] <= NEAR), key=lambda part: near[part]):
        words = AGAIN[part] if difference > 0 else MISSING.format(PARTS[part])
        yield f"{words}, {binary_bytes(sizes[part])}"
