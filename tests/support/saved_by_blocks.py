"""What a training step saves in the blocks of a model, as `memory` schedules it."""

from __future__ import annotations

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.training import step_schedule
from archcalc.core.ir import Module


def saved_by_blocks(ask: Memory, root: Module) -> int:
    """Bytes of all of them."""
    saved = step_schedule(root, ask.deployment.run, ask.deployment.keeping).saved()
    return sum(one.bytes for one in saved if "blocks" in one.module.path)
