"""A fused kernel: its ops are recorded one by one, but it saves tensors for backward as a whole."""

from __future__ import annotations

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Module, Region
from archcalc.spec.workload import Workload

TRAINED = "it saves its inputs, and recomputes intermediates in the backward pass"
FUSED = "it does not save a state for each position, as PyTorch without a fused kernel would"


def kernel(m: Module, work: Workload, name: str) -> Module:
    """Records the ops of a fused kernel, which saves only its inputs and outputs."""
    saved = TRAINED if work.trains else FUSED
    m.words.memory_notes.append(Assumption(Topic.KERNEL, f"assumes a fused kernel ({name}): {saved}", name))
    m.words.whole_sequence = "a state that is passed from one position to the next"
    return m.section(Region.KERNEL)
