"""A stretch that one kernel computes: recorded op by op, kept as a whole."""

from __future__ import annotations

from archcalc.ir import Module
from archcalc.workload import Workload

KEPT = "states along a sequence: a kernel keeps what goes in, and computes its inside again in the backward pass"


def kernel(m: Module, work: Workload) -> Module:
    """Where the kernel's ops are recorded. For the backward pass it keeps what it reads, and nothing that it makes."""
    if work.mode == "train":
        m.work_notes.append(KEPT)
    return m.section("kernel")
