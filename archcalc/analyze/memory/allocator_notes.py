"""How reserved memory was found."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.later import Later
from archcalc.run.resolved import Run
from archcalc.simulate.reserved import DeviceMemory


def allocator_notes(run: Run, device: Later[DeviceMemory] | None) -> Iterator[Assumption]:
    """Of a training step; `device` is None where PyTorch's allocator was not simulated, or decides nothing."""
    if device:
        segments = "expandable segments" if run.allocator == "expandable" else "its default segments"
        text = f"reserved: PyTorch's caching allocator with {segments}, simulated over two steps"
        yield Assumption(Topic.ALLOCATOR, text, run.allocator, "" if "allocator" in run.said else "--allocator")
    elif run.method.rollout == "sleep":
        yield Assumption(Topic.ALLOCATOR, "the most is needed while completions are generated: tensors are counted")
    elif run.trains:
        text = "reserved memory is not simulated: the step has too many ops, and only its tensors are counted"
        yield Assumption(Topic.ALLOCATOR, text)
