"""`archcalc verify --peak`: a training step of a transformers class, tensor by tensor, beside archcalc's.

The class runs on the meta device, two steps of it; every storage that is made and dropped is compared with what
archcalc simulates for `--code transformers`: what is kept between the passes, and the peaks of forward pass, backward
pass and optimizer step, within a tolerance. Every tensor above it of which the two keep another number is named. Depth
changes nothing about a layer, so that a config is cut to a few of its layers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from archcalc.analyze.memory import training
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import peak
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Region, walk
from archcalc.core.notes import notes_of
from archcalc.importers.hf._helpers import imported
from archcalc.model import Model
from archcalc.reference.lifetimes import Birth, Phase, Storage
from archcalc.report.of_verify import Row, VerifyReport
from archcalc.run.code.library import TRANSFORMERS
from archcalc.run.options import Options
from archcalc.simulate.events import Block, Change, Event
from archcalc.spec.sizes import Sizes
from archcalc.verify.check import Progress
from archcalc.verify.hf.built import class_named, needed
from archcalc.verify.hf.traced import Trace, trace_training
from archcalc.verify.hf.training import Setting, Training

LAYERS = 4  # of each stack
DEPTHS = ("num_hidden_layers", "n_layer", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers")
LISTS = ("layer_types", "mlp_layer_types")  # with an entry for each layer
OPTIMIZERS = {"adamw": "adamw-foreach", "adamw-fused": "adamw-fused", "adamw-for-loop": "adamw", "sgd": "sgd"}
ADAPTED = (("q_proj", "v_proj"), ("q", "v"), ("query", "value"), ("c_attn",), ("query_key_value",))  # or one matrix
PASSES = {"forward": "forward pass", "backward": "backward pass", "step": "optimizer step"}
SECOND = 1  # the step that is compared: the first has no optimizer states yet
TOLERANCE = 0.003  # of a peak: lifetimes of Python's variables, tables and ids stay below it
WITHIN = Assumption(
    Topic.SCOPE,
    f"within {TOLERANCE:.1%}: tensors smaller than that are not compared one by one, nor lifetimes of variables",
)
CUT = Assumption(Topic.SCOPE, f"compared on the first {LAYERS} layers of each stack: deeper ones repeat them")


@dataclass(frozen=True)
class Asked:
    """One way of training, in archcalc's words."""

    precision: str = "bf16"
    attention: str = "flash"  # empty for a model without attention
    recompute: str = "none"
    optimizer: str = "adamw-fused"
    lora: int = 0

    @property
    def words(self) -> str:
        adapters = f"LoRA of rank {self.lora}" if self.lora else ""
        again = "activation checkpointing" if self.recompute != "none" else ""
        attention = self.attention and f"{self.attention} attention"
        return ", ".join(filter(None, (self.precision, attention, again, adapters, self.optimizer)))


USUAL = (  # where nothing is chosen
    Asked(),
    Asked(recompute="full"),
    Asked(attention="eager", optimizer="adamw"),
    Asked(precision="fp32", attention="eager", optimizer="adamw-for-loop"),
    Asked(lora=8),
)
CHOICES = {
    "precision": ("bf16", "fp32"),
    "attention": ("eager", "flash"),
    "recompute": ("none", "full"),
    "optimizer": tuple(OPTIMIZERS),
}


def asked_ways(said: dict[str, Any]) -> tuple[Asked, ...]:
    """The one way that options name, or the usual ones if none is given."""
    given = {name: value for name, value in said.items() if value is not None}
    for name, choices in CHOICES.items():
        if given.get(name, choices[0]) not in choices:
            fact = f"archcalc compares no {name} {given[name]}"
            raise InputError(fact, f"choose one of {', '.join(choices)}", field=f"--{name}")
    return (Asked(**given),) if given else USUAL


def verify_peak(model: Model, ways: tuple[Asked, ...], batch: int, seq: int, progress: Progress) -> VerifyReport:
    """One group of rows for each way of training. A way that the class or the model does not have is left out, and
    refused where no other one was asked for."""
    config = _config(model)
    small = Model.from_document(imported.document(config, "config.json"), model.name, ())
    if not any(module.region == Region.CORE for module, _ in walk(small.build())):
        ways = tuple(dict.fromkeys(replace(each, attention="") for each in ways))
    rows: list[Row] = []
    refused: dict[str, InputError] = {}
    assumed = [CUT, WITHIN]
    for place, asked in enumerate(ways):
        progress(place, len(ways), asked.words)
        try:
            targets = _targets(config) if asked.lora else ()
            how = {"optimizer": OPTIMIZERS[asked.optimizer], "recompute": asked.recompute != "none", "targets": targets}
            setting = Setting(batch, seq, **(asdict(asked) | how | {"attention": asked.attention or "default"}))
            ours = played(small, asked, batch, seq)
            rows.extend(_rows(ours, config, asked, _traced(small, config, setting)))
            assumed.extend(ours.notes)
        except InputError as reason:
            refused[asked.words] = reason
    progress(len(ways), len(ways), "")
    if not rows:
        raise next(iter(refused.values()))
    number = f"{len(ways) - len(refused)} ways of training" if len(ways) > 1 else ways[0].words
    version = needed("transformers").__version__
    said = f"memory of a training step, {number}, batch {batch}, seq {seq}, transformers {version}"
    left_out = {words: reason.fact for words, reason in refused.items()}
    return VerifyReport(model.name, tuple(dict.fromkeys(assumed)), said, tuple(rows), left_out)


def _config(model: Model) -> dict[str, Any]:
    """The config that the model was read from, with a few of its layers."""
    needed("transformers")
    config = model.config
    if not config:
        fact = "there is no config.json of this model, and so no class of transformers to compare with"
        raise InputError(fact, "give a config.json, or hf:owner/name", field=model.name)
    if model.edited:
        fact = "transformers builds the model of config.json, which --set changed"
        raise InputError(fact, "leave --set out, or change a copy of the config.json", field="--set")
    cut = {key: min(LAYERS, value) for key, value in config.items() if key in DEPTHS and isinstance(value, int)}
    lists = {key: config[key][:LAYERS] for key in LISTS if isinstance(config.get(key), list)}
    return {**config, **cut, **lists}


def _targets(config: dict[str, Any]) -> tuple[str, ...]:
    """What the class calls the linear layers that archcalc's adapters stand beside by default."""
    names = {name.rpartition(".")[2] for name, _ in Training(config, Setting(1, 1)).model.named_modules()}
    found = next((layers for layers in ADAPTED if names >= set(layers)), ())
    if not found:
        fact = f"archcalc does not know which layers of {class_named(config)} peft adapts by default"
        raise InputError(fact, "leave --lora out", field="--lora")
    return found


def _traced(model: Model, config: dict[str, Any], setting: Setting) -> Trace:
    try:
        return trace_training(Training(config, setting, model.document.head_in_checkpoint))
    except NotImplementedError as reason:  # such as torch.nonzero, whose shape depends on values
        fact = f"{class_named(config)} computes something that PyTorch's meta device cannot: {reason}"
        fact = fact.partition(". ")[0]
        raise InputError(fact, "compare parameters and FLOPs, without --peak", field="--peak") from reason


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
    options = {"mode": "train", "overhead": 0, "code": TRANSFORMERS, **asdict(asked)}
    options |= {"attention": asked.attention or None, "lora": asked.lora or None}
    ours = deploy(model, Options.of("memory", options))
    found = peak(ours, free_sizes(model, batch, seq))
    changes = training.unrolled(partial(training.step_schedule, found.root, ours.run, ours.keeping))
    return Played(*_played(changes, sum(found.step.start.values())), notes_of(found.root, "memory_notes"))


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
        phase = {"loss": "forward"}.get(change.phase, change.phase)  # the loss is a part of the forward pass
        if before == "forward" and phase == "backward" and change.bytes > 0:
            kept = Counter(block.bytes for block in alive)
            before = phase
        level += change.bytes
        alive ^= {change.block} if change.bytes else set()
        peaks[phase] = max(peaks.get(phase, 0), level)
    return kept, peaks


def _rows(ours: Played, config: dict[str, Any], asked: Asked, there: Trace) -> list[Row]:
    """Tensors that are larger than the tolerance one by one, bytes and peaks within it."""
    group, kept = asked.words, _kept(there)
    total = sum(one.bytes for one in kept)
    large = [one for one in kept if one.bytes > TOLERANCE * total]
    here = Counter({size: number for size, number in ours.kept.items() if size > TOLERANCE * total})
    peaks = {name: there.peaks[Phase(name, SECOND)].bytes for name in PASSES}
    rows = [
        Row("large tensors kept for the backward pass", here.total(), len(large), group, _differing(here, large)),
        Row("bytes of all of them", ours.kept_bytes, total, group, tolerance=TOLERANCE),
        *(
            Row(f"peak of the {phase}", ours.peaks[name], peaks[name], group, tolerance=TOLERANCE)
            for name, phase in PASSES.items()
        ),
    ]
    return [replace(row, against=f"transformers' {class_named(config)}") for row in rows]


def _kept(trace: Trace) -> list[Storage]:
    """Alive when the second backward pass begins, without weights, buffers and optimizer states."""
    alive: dict[int, Storage] = {}
    for event in trace.events:
        if isinstance(event, Phase):
            if event == Phase("backward", SECOND):
                break
        elif isinstance(event, Birth):
            alive[event.storage.key] = event.storage
        else:
            alive.pop(event.storage.key)
    return [one for one in alive.values() if one.key not in trace.names or one.op == "input"]


def _differing(here: Counter[int], there: list[Storage]) -> str:
    """Every size of which the two keep another number, the largest first, each with an example."""
    numbers = Counter(one.bytes for one in there)
    examples = {one.bytes: one for one in reversed(there)}
    found = []
    for size in sorted(here | numbers, reverse=True):
        if here[size] != numbers[size]:
            one = examples.get(size)
            like = f", such as {one.op.removeprefix('aten.')} {tuple(one.shape)} of {one.module}" if one else ""
            found.append(f"{here[size]} of {size:,} bytes against {numbers[size]}{like}")
    return "; ".join(found)
