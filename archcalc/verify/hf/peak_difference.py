"""How far `archcalc memory --mode train --overhead 0` is from the tensors that a transformers class has alive at once.

The class runs two steps on the meta device; the second one's peak is compared, which has optimizer states from its
beginning. A CUDA context and the allocator's blocks are on neither side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.peak import peak
from archcalc.importers.hf._helpers import imported
from archcalc.model import Model
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes
from archcalc.verify.hf.built import memory_width
from archcalc.verify.hf.lora_layers import adapted_elements, adapted_layers
from archcalc.verify.hf.setting import Setting
from archcalc.verify.hf.traced import trace_training
from archcalc.verify.hf.training import Training

SECOND = 1  # the step that is compared
RANK = 4


@dataclass(frozen=True)
class Way:
    """One way of training, as the options of `archcalc memory` name it."""

    precision: str
    recompute: bool = False
    lora: bool = False


@dataclass(frozen=True)
class Difference:
    """Bytes of both peaks."""

    ours: int
    theirs: int

    @property
    def percent(self) -> float:
        return 100 * (self.ours / self.theirs - 1)


def difference(config: dict[str, Any], way: Way, batch: int, seq: int) -> Difference:
    """Of the model that a config.json describes."""
    model = Model.from_document(imported.document(dict(config), "config.json"), "config.json", ())
    ours = _deployed(model, way)
    sizes = _sizes(model, batch, seq)
    training = Training(config, _setting(model, config, way, sizes), model.document.head_in_checkpoint)
    if way.lora:
        adapted_elements(ours.parameters, training)
    trace = trace_training(training)
    peaks = [each.bytes for phase, each in trace.peaks.items() if phase.step == SECOND]
    return Difference(peak(ours, sizes).bytes, max(peaks))


def _deployed(model: Model, way: Way) -> Deployment:
    options: dict[str, Any] = {"mode": "train", "overhead": 0, "precision": way.precision}
    if way.recompute:
        options["recompute"] = "full"
    if way.lora:
        options["lora"] = RANK
    return deploy(model, Options.of("memory", options))


def _sizes(model: Model, batch: int, seq: int) -> Sizes:
    """Every length that the model lets one choose."""
    free = {name: seq for name, limit in model.resolved.lengths.items() if not limit.fixed}
    return Sizes(batch, **free)


def _setting(model: Model, config: dict[str, Any], way: Way, sizes: Sizes) -> Setting:
    work = model.workload(**sizes.given(), mode="train")
    first, *others = (*work.lengths.values(), 1)
    target = others[0] if len(others) > 1 else 0
    rank, layers = (RANK, adapted_layers(config)) if way.lora else (0, ())
    return Setting(
        work.batch,
        first,
        target_seq=target,
        precision=way.precision,
        attention="default",
        optimizer="adamw-fused",
        recompute=way.recompute,
        lora=rank,
        targets=layers,
        memory=memory_width(model) or 0,
        shape=() if work.lengths else tuple(getattr(model.resolved, "input", ())),
    )
