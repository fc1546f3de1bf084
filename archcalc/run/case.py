"""A case: all options of `archcalc memory` filled in and checked against the model.

    case(model, Options.of("memory", {"mode": "train", "optimizer": "adamw", "recompute": "full"}))

Options that are not given get defaults, which are listed as assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.run import methods
from archcalc.run.code import Code, code, support, usual_code
from archcalc.run.code.library import PLAIN
from archcalc.run.code.recipes import Default, meant, recipe_defaults
from archcalc.run.engine.running import PLAIN_RUNNING, Running, running
from archcalc.run.methods import SFT, Method
from archcalc.run.offload import Offload
from archcalc.run.optimizers import Optimizer, optimizer
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.options import Options
from archcalc.run.pipeline import Stage
from archcalc.run.precision_recipes import WIDE_FILES, Recipe
from archcalc.storage import named_formats
from archcalc.storage.format import Format

if TYPE_CHECKING:
    from archcalc.model import Model
    from archcalc.storage.weight_storage import StoredWeights, WeightStorage


@dataclass(frozen=True)
class Case:
    """Every value filled in."""

    mode: str
    plan: Plan
    format: WeightStorage
    activations: str  # number format
    attention: str
    recipe: Recipe | None = None
    optimizer: Optimizer | None = None
    accumulate: int = 1
    recompute: str = "none"
    loss_chunks: int = 1
    compile: str = "none"
    reshard: str = "always"  # after the forward pass: always, but the last block, never
    code: Code = field(default_factory=lambda: code(PLAIN))
    allocator: str = "plain"
    method: Method = SFT
    stage: Stage | None = None  # of a pipeline
    offload: Offload = field(default_factory=Offload)
    freeze: tuple[str, ...] = ()
    lora: int | None = None
    lora_targets: tuple[str, ...] = ()
    kv_format: Format | None = None
    kv_rule: str = "window"
    state_format: Format | None = None
    prefill: int | None = None
    shared_prefix: int = 0
    overhead: int | None = None
    engine: Running = PLAIN_RUNNING
    assumptions: tuple[Assumption, ...] = ()
    estimates: tuple[str, ...] = ()
    said: frozenset[str] = frozenset()  # the options that were given, and not filled in

    @property
    def trains(self) -> bool:
        return self.mode == "train"


def case(model: Model, asked: Options) -> Case:
    """The options of a memory report, with defaults filled in."""
    filled = _training(model, asked) if asked.trains else _inference(model, asked)
    offload = Offload.of(asked)
    if "embedding" in filled.engine.rules.host:
        offload = replace(offload, embedding=True)
    return replace(filled, said=frozenset(asked.given), offload=offload)


def _training(model: Model, asked: Options) -> Case:
    used = _code(model, asked).with_habits(asked.habit or ())
    support.check(asked, used, model.spec.family)
    usual = recipe_defaults(used, asked)
    main_gradients = used.habits.gradients == "resident"
    offload = Offload.of(asked)
    offload.check_code(used.name, keeps_gradients=main_gradients)
    kept = meant(asked.precision or _usual_precision(model, usual), used, asked).loaded_from(model.spec.precision)
    chunks = asked.loss_chunks or used.habits.chunks
    again = asked.recompute or (usual["recompute"].value if "recompute" in usual else "none")
    made = Case(
        mode="train",
        plan=_padded(asked.plan, used),
        format=named_formats.weight_format(asked.weights or kept.of_frozen),
        activations=kept.activations,
        attention=_attention(asked, kept.activations),
        recipe=kept,
        optimizer=optimizer(asked.optimizer or usual["optimizer"].value),
        accumulate=asked.accumulate or max(asked.plan.pp, used.habits.micro_batches),
        recompute=RECOMPUTE[again],
        loss_chunks=chunks,
        compile=used.habits.compiles(chunks) if asked.compile == "code" else asked.compile or "none",
        reshard=asked.reshard_after_forward or used.habits.reshard,
        code=used,
        allocator=asked.allocator or used.habits.allocator,
        method=methods.method(asked),
        freeze=asked.freeze or (),
        lora=asked.lora,
        lora_targets=asked.lora_targets or (),
        overhead=asked.overhead,
        offload=offload,
    )
    estimates = (*_unverified(made), *support.unmeasured(asked, used, precision=kept.word, attention=made.attention))
    return replace(made, assumptions=tuple(_of_training(model, asked, made)), estimates=estimates)


def _padded(plan: Plan, used: Code) -> Plan:
    return replace(plan, padded_to=used.number("vocabulary_rows")) if used.habits.vocabulary == "padded" else plan


def _code(model: Model, asked: Options) -> Code:
    """The training code that was asked for, or the one that people run."""
    if asked.code:
        return code(asked.code, model.model_type, model.config)
    return usual_code(model.model_type, model.config)


def _usual_precision(model: Model, usual: dict[str, Default]) -> str:
    """That of the code's recipe, or mixed for a model whose files are in 16 bits."""
    if "precision" in usual:
        return str(usual["precision"].value)
    return "fp32" if model.spec.precision in WIDE_FILES else "mixed"


def _of_training(model: Model, asked: Options, made: Case) -> Iterator[Assumption]:
    assert made.recipe and made.optimizer
    used = made.recipe
    option = "" if asked.precision else "--precision"
    yield Assumption(Topic.PRECISION, f"{used.word}: {used.about}", used.word, option)
    if not asked.optimizer:
        name = made.optimizer.name
        yield Assumption(Topic.OPTIMIZER, f"optimizer {name}", name, "--optimizer")
    yield made.code.assumption(said=bool(asked.code))
    yield from support.assumed(asked, made.code)
    if made.plan.pp > 1 and not asked.accumulate:
        text = f"{made.accumulate} micro-batches a step, so that every pipeline stage has one to work on"
        yield Assumption(Topic.PARALLELISM, text, made.accumulate, "--accumulate")
    if made.plan.ep > 1:
        yield Assumption(Topic.PARALLELISM, "tokens are spread evenly over experts: every GPU gets as many as it sends")
    yield from methods.assumed(asked, made.method, used)
    yield from _set_by_code(asked, made)
    if model.stored and model.stored.is_quantised and not asked.weights:
        text = f"training uses unquantised weights, not the format they are stored in ({model.stored.name})"
        yield Assumption(Topic.WEIGHTS, text, used.weights)


def _set_by_code(asked: Options, made: Case) -> Iterator[Assumption]:
    """What its configs choose, where the question leaves it open."""
    name = made.code.name
    again = recipe_defaults(made.code, asked).get("recompute")
    if again and not asked.recompute:
        text = f"activation checkpointing {again.value}: {again.why}"
        yield Assumption(Topic.CODE, text, again.value, "--recompute")
    if made.loss_chunks > 1 and not asked.loss_chunks:
        text = f"loss in {made.loss_chunks} chunks, as {name} computes it"
        yield Assumption(Topic.CODE, text, made.loss_chunks, "--loss-chunks")
    if made.accumulate > 1 and not asked.accumulate:
        text = f"gradients of several micro-batches are accumulated, as in {name}'s configs"
        yield Assumption(Topic.CODE, text, made.accumulate, "--accumulate")
    if asked.compile == "code":
        yield Assumption(Topic.CODE, f"{name} compiles: {made.compile}", made.compile, "--compile")


def _unverified(made: Case) -> list[str]:
    """Assumptions that archcalc has not verified against a real run."""
    found = [one.estimate for one in (made.recipe, made.optimizer) if one and one.estimate]
    found += methods.estimated(made.method)
    if made.plan.cp > 1 and made.code.habits.context == "gathered":
        found.append("context parallelism: keys and values are all-gathered for attention")
    if made.compile != "none":
        found.append("torch.compile: assumes elementwise ops are fused, and recomputed instead of saved")
    if made.loss_chunks > 1 and made.code.habits.loss_chunks in ("freed", "packed", "backward"):
        found.append("chunked cross-entropy: each chunk's logits are freed before the next")
    found.extend(made.offload.estimates())
    if made.format.is_quantised:
        found.append("quantised training: weights are dequantised to 16 bits one layer at a time")
    if made.format.is_quantised and made.recipe and made.recipe.products == "fp8":
        found.append("fp8 with quantised weights: only the adapters' matrix products are computed in fp8")
    return found


def _inference(model: Model, asked: Options) -> Case:
    assumptions: list[Assumption] = []
    kept = None if asked.weights else _kept(model, asked)
    computed = asked.precision or model.spec.precision or ("fp16" if kept else "fp32")
    if asked.precision and asked.precision not in BYTES:
        fact = f"no number format called {asked.precision}"
        raise InputError(fact, did_you_mean(computed, BYTES), field="--precision")
    if asked.precision == "fp8" and asked.weights:
        fact = f"in inference fp8 is a weight format, and --weights is already {asked.weights}"
        raise InputError(fact, "leave --precision out, or use bf16, fp16 or fp32", field="--precision")
    if not (asked.precision or model.spec.precision):
        text = f"{computed}: the spec names no precision"
        assumptions.append(Assumption(Topic.PRECISION, text, computed, "--precision"))
    activations = "bf16" if computed == "fp8" else computed
    kv = asked.kv_dtype or activations
    used = running(asked, model.spec.family)
    layout = used.layout(kept) if kept else None
    assumptions += [*_unmixed(asked.weights), *_stored(kept, asked.tp or 1), *used.assumptions(layout)]
    if layout:
        weights: WeightStorage = replace(named_formats.weight_format(layout), rest=activations)
    elif kept:
        weights = replace(kept, rest=activations)
    else:
        weights = named_formats.weight_format(asked.weights or computed)
    if weights.dequantised_copies:
        text = f"{weights.name}: in prefill, one matrix at a time is dequantised to 16 bits, as in bitsandbytes"
        assumptions.append(Assumption(Topic.WEIGHTS, text, weights.name))
    return Case(
        mode=asked.mode,
        plan=asked.plan,
        format=weights,
        activations=used.rules.activations or activations,
        attention=_attention(asked, "bf16"),
        kv_format=named_formats.uniform_format(kv, "--kv-dtype"),
        kv_rule=asked.kv_rule or used.rules.kv_rule,
        state_format=named_formats.uniform_format(asked.state_dtype or activations, "--state-dtype"),
        prefill=asked.prefill or used.tokens,
        shared_prefix=asked.shared_prefix or 0,
        overhead=asked.overhead,
        engine=used,
        assumptions=tuple(assumptions),
    )


def _unmixed(weights: str | None) -> Iterator[Assumption]:
    """Note that one format is applied to every matrix, although real files mix formats, and checkpoints keep some
    layers wider."""
    if not weights or named_formats.is_file(weights):
        return
    kept = named_formats.weight_format(weights)
    name = kept.name
    if kept.is_quantised and kept.quantises == "linear":
        text = f"weights: {name} in every linear layer; a checkpoint that keeps some wider says so in its config.json"
        yield Assumption(Topic.WEIGHTS, text, name)
    mixed = [file for file in named_formats.files() if file.startswith(name.lower())]
    if mixed:
        text = f"weights: {name} for every matrix; llama.cpp's files mix formats: {', '.join(mixed)}"
        yield Assumption(Topic.WEIGHTS, text, name)


def _kept(model: Model, asked: Options) -> StoredWeights | None:
    """Unquantised weights are loaded in the given precision; quantised ones stay in their format."""
    stored = model.stored
    return None if stored and asked.precision and not stored.is_quantised else stored


def _stored(kept: StoredWeights | None, tp: int) -> Iterator[Assumption]:
    """Weights as the model's own files store them, where they say so."""
    if kept is None:
        return
    if kept.unknown:
        hint = "choose the format to count, such as --weights int4 or --weights bf16"
        raise InputError(f"the weights are stored by {kept.name}: {kept.unknown}", hint, field="--weights")
    yield Assumption(Topic.WEIGHTS, f"weights: {kept.name}, from {kept.source}", kept.name, "--weights")
    if tp > 1 and kept.estimate:
        yield Assumption(Topic.PARALLELISM, kept.estimate, tp)


def _attention(asked: Options, activations: str) -> str:
    """Flash attention if the activations are 16-bit, as its kernel requires."""
    if asked.attention:
        return asked.attention
    return "flash" if BYTES[activations] == 2 else "eager"
