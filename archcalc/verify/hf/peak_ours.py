"""archcalc's side of `archcalc verify --peak`: what a simulated training step keeps, and its peaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from archcalc.analyze.memory import training
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import played as played_by
from archcalc.core.assumptions import Assumption
from archcalc.core.notes import notes_of
from archcalc.run.code.library import TRANSFORMERS
from archcalc.run.options import Options
from archcalc.simulate.events import Block, Change, Event
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.model import Model
    from archcalc.verify.hf.peak import Asked

PASSES = {"loss": "forward"}  # the loss is a part of the forward pass


@dataclass(frozen=True)
class Played:
    """`kept` are the sizes of the tensors that are there when the backward pass begins, `peaks` bytes by pass."""

    kept: Counter[int]
    peaks: dict[str, int]
    notes: tuple[Assumption, ...]  # what the simulation takes for granted about layers

    @property
    def kept_bytes(self) -> int:
        return sum(size * number for size, number in self.kept.items())


def played(model: Model, asked: Asked, batch: int, seq: int) -> Played:
    """A step with optimizer states, op by op."""
    options: dict[str, Any] = {
        "mode": "train",
        "overhead": 0,
        "code": TRANSFORMERS,
        "precision": asked.precision,
        "attention": asked.attention,
        "recompute": asked.recompute,
        "optimizer": asked.optimizer,
        "lora": asked.lora or None,
    }
    ours = deploy(model, Options.of("memory", options))
    root, step, *_ = played_by(ours, free_sizes(model, batch, seq))
    changes = training.unrolled(partial(training.step_schedule, root, ours.run, ours.keeping))
    return Played(*_played(changes, sum(step.start.values())), notes_of(root, "memory_notes"))


def free_sizes(model: Model, batch: int, seq: int) -> Sizes:
    """Every length that the model lets one choose."""
    free = {name: seq for name, limit in model.resolved.lengths.items() if not limit.fixed}
    return Sizes(batch, **free)


def _played(changes: list[Event], level: int) -> tuple[Counter[int], dict[str, int]]:
    """What is there when the backward pass makes its first tensor, and the peak of each pass."""
    alive: set[Block] = set()
    kept: Counter[int] = Counter()
    peaks: dict[str, int] = {}
    before = "forward"
    for change in changes:
        assert isinstance(change, Change)
        phase = PASSES.get(change.phase, change.phase)
        if before == "forward" and phase == "backward" and change.bytes > 0:
            kept = Counter(block.bytes for block in alive)
            before = phase
        level += change.bytes
        alive ^= {change.block} if change.bytes else set()
        peaks[phase] = max(peaks.get(phase, 0), level)
    return kept, peaks
