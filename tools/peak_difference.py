"""How far `archcalc memory --mode train --overhead 0` is from the tensors that a transformers class has alive at once.

The class runs two steps on the meta device; the second one's peak is compared, which has optimizer states from its
beginning. A CUDA context and the allocator's blocks are on neither side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import peak
from archcalc.core.errors import InputError
from archcalc.importers.hf._helpers import imported
from archcalc.model import Model
from archcalc.run.lora import is_adapter
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes
from archcalc.verify.hf.built import class_named, memory_width
from archcalc.verify.hf.peak import free_sizes
from archcalc.verify.hf.traced import trace_training
from archcalc.verify.hf.training import Setting, Training

SECOND = 1  # the step that is compared
RANK = 4
NAMES = (  # of queries and values, or of one matrix that makes both
    ("q_proj", "v_proj"),
    ("q", "v"),
    ("query", "value"),
    ("q_lin", "v_lin"),
    ("c_attn",),
    ("query_key_value",),
    ("qkv_proj",),
    ("Wqkv",),
    ("qkv",),
)


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
    options: dict[str, Any] = {"mode": "train", "overhead": 0, "precision": way.precision}
    if way.recompute:
        options["recompute"] = "full"
    if way.lora:
        options["lora"] = RANK
    ours, sizes = deploy(model, Options.of("memory", options)), free_sizes(model, batch, seq)
    training = Training(config, _setting(model, config, way, sizes), model.document.head_in_checkpoint)
    if way.lora:  # adapters that are not of the same layers are not compared
        adapters = sum(one.copies * one.elements for one in ours.parameters.held if is_adapter(one.param))
        theirs = sum(one.numel() for one in training.model.parameters() if one.requires_grad)
        if adapters != theirs:
            fact = f"peft's adapters have {theirs:,} weights, and archcalc's {adapters:,}"
            raise InputError(fact, "leave LoRA out")
    trace = trace_training(training)
    peaks = [each.bytes for phase, each in trace.peaks.items() if phase.step == SECOND]
    return Difference(peak(ours, sizes).bytes, max(peaks))


def _adapted_layers(config: dict[str, Any]) -> tuple[str, ...]:
    """Those that archcalc's adapters stand beside by default, queries and values, by their names in the class."""
    names = {name.rpartition(".")[2] for name, _ in Training(config, Setting(1, 1)).model.named_modules()}
    found = next((layers for layers in NAMES if names >= set(layers)), ())
    if not found:
        fact = f"archcalc does not know which layers of {class_named(config)} make queries and values"
        raise InputError(fact, "leave LoRA out")
    return found


def _setting(model: Model, config: dict[str, Any], way: Way, sizes: Sizes) -> Setting:
    work = model.workload(**sizes.given(), mode="train")
    first, *others = (*work.lengths.values(), 1)
    target = others[0] if len(others) > 1 else 0
    rank, layers = (RANK, _adapted_layers(config)) if way.lora else (0, ())
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
