"""A training step as archcalc simulates it, block by block: what is alive at the peak of each phase."""

from __future__ import annotations

from functools import partial
from typing import Any

from archcalc.analyze.memory import Memory, training
from archcalc.model import Model
from archcalc.run.tree_changes import traced
from archcalc.simulate.events import Block, Change
from archcalc.spec.sizes import Sizes

FORWARD = ("forward", "loss")


def asked(model: Model, **options: Any) -> Memory:
    """A training step on one GPU without what a runtime takes."""
    usual = {"precision": "bf16", "attention": "flash", "accumulate": 1}
    return Memory(model, mode="train", overhead=0, **{**usual, **options})


def changes(memory: Memory, batch: int, seq: int) -> list[Change]:
    """Every allocation and every free, in order."""
    made = memory.deployment
    root = traced(made.network, made.run, made.workload(Sizes(batch, seq)))
    found = training.unrolled(partial(training.step_schedule, root, made.run, made.keeping))
    return [one for one in found if isinstance(one, Change)]


def peaks(memory: Memory, batch: int, seq: int) -> dict[str, tuple[Block, ...]]:
    """The blocks that are there when most is there, going forward (loss and all) and back."""
    alive: dict[int, Block] = {}
    most: dict[str, int] = {}
    found: dict[str, tuple[Block, ...]] = {}
    for change in changes(memory, batch, seq):
        if change.bytes > 0:
            alive[id(change.block)] = change.block
        else:
            alive.pop(id(change.block), None)
        phase = "forward" if change.phase in FORWARD else change.phase
        now = sum(block.bytes for block in alive.values()) if change.bytes > 0 else 0
        if now > most.get(phase, 0):
            most[phase], found[phase] = now, tuple(alive.values())
    return found


def sizes(blocks: tuple[Block, ...], least: int) -> list[int]:
    """Bytes of those that are not small, sorted."""
    return sorted(block.bytes for block in blocks if block.bytes >= least)
