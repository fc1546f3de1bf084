"""A stretch that one kernel computes: recorded op by op, stored as a whole."""

from __future__ import annotations

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Module, Region
from archcalc.spec.workload import Workload

TRAINED = "it saves what it reads, and computes its inside again in the backward pass"
FUSED = "it stores no state for each position, which PyTorch op by op would"


def kernel(m: Module, work: Workload, name: str) -> Module:
    """Where the ops of the kernel of that name are recorded. It stores nothing but what it reads and writes."""
    saved = TRAINED if work.trains else FUSED
    m.memory_notes.append(Assumption(Topic.KERNEL, f"assumes a fused kernel ({name}): {saved}", name))
    m.whole_sequence = "a state that is handed from one position to the next"
    return m.as_region(Region.KERNEL)
