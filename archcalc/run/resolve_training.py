"""How a training run is filled in: code, precision, kernel, checkpointing, optimizer, as the code has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.mesh import Plan
from archcalc.run import methods
from archcalc.run.choice import Choice, Reason
from archcalc.run.code import OWN, Code, code, support, usual_code
from archcalc.run.device.capabilities import NOTHING_KNOWN, Capabilities
from archcalc.run.device.training import training_refusal, training_replacement
from archcalc.run.kernels import torch_kernel
from archcalc.run.offload import Offload
from archcalc.run.optimizers import Optimizer, optimizer
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.options import Options
from archcalc.run.precision_recipes import Recipe, recipe
from archcalc.run.resolved import Run
from archcalc.storage import named_formats

if TYPE_CHECKING:
    from archcalc.model import Model

WIDE = (None, "fp32", "fp64")  # what a spec says of a model that is trained in fp32
FULL = "activation checkpointing"


def training_run(model: Model, asked: Options) -> Run:
    """The options of a training step, with defaults filled in."""
    used, why = _code(model, asked)
    used = used.with_habits(asked.habit or ())
    support.check(asked, used, model.spec.family)
    main_gradients = used.habits.gradients == "resident"
    offload = Offload.of(asked)
    offload.check_code(used.name, keeps_gradients=main_gradients)
    sharded = asked.plan.zero == 3 and not asked.lora and not offload.optimizer
    precision = asked.precision or ("fp32" if model.spec.precision in WIDE else "mixed")
    kept = recipe(precision, sharded=sharded, main_gradients=main_gradients)
    device = asked.device.capabilities if asked.device else NOTHING_KNOWN
    if refused := training_refusal(device, kept):
        raise refused
    chunks = asked.loss_chunks or used.habits.chunks
    attention = torch_kernel(asked.attention, device, kept.activations)
    made = Run(
        mode="train",
        plan=_padded(asked.plan, used),
        format=named_formats.weight_format(asked.weights or kept.weights),
        activations=kept.activations,
        attention=str(attention.value),
        recipe=kept,
        optimizer=optimizer(asked.optimizer or _usual_optimizer(used, asked)),
        accumulate=asked.accumulate or max(asked.plan.pp, used.habits.micro_batches),
        recompute=RECOMPUTE[asked.recompute or "none"],
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
    estimates = (*_unverified(made), *support.unmeasured(asked, used, precision=kept.name, attention=made.attention))
    choices = (*_choices(model, asked, made, device, attention), why)
    return replace(made, choices=choices, assumptions=tuple(_notes(model, asked, made)), estimates=estimates)


def _padded(plan: Plan, used: Code) -> Plan:
    return replace(plan, padded_to=used.number("vocabulary_rows")) if used.habits.vocabulary == "padded" else plan


# The training code


def _code(model: Model, asked: Options) -> tuple[Code, Choice]:
    """The one that was asked for, or the one that people train such a model with."""
    if asked.code:
        used = code(asked.code, model.model_type, model.config)
        return used, _of_code(used, Reason.ASKED, "")
    usual = usual_code(model.model_type, model.config)
    try:
        support.check(asked, usual, model.spec.family)
    except InputError as refused:
        return OWN, _of_code(OWN, Reason.ARCHCALC, f", since {refused.fact}")
    why = "" if usual.is_plain else ", which has this model's class"
    return usual, _of_code(usual, Reason.ARCHCALC, why)


def _of_code(used: Code, reason: Reason, why: str) -> Choice:
    return Choice("code", used.name, used.words, reason, f"code: {used.words}, {used.about}{why}")


def _usual_optimizer(used: Code, asked: Options) -> str:
    """That of the library, which may have another one beside quantised weights."""
    beside = used.habits.quantised_optimizer
    return beside if asked.weights and beside != "same" else used.habits.optimizer


# Choices


def _choices(model: Model, asked: Options, made: Run, device: Capabilities, attention: Choice) -> Iterator[Choice]:
    """In the order of the first line."""
    assert made.recipe and made.optimizer
    yield from _method(asked)
    yield _precision(model, asked, made.recipe, device)
    yield attention
    yield _recompute(asked, made)
    yield _optimizer(asked, made.optimizer, made.code)
    yield from _set_by_code(asked, made)


def _method(asked: Options) -> Iterator[Choice]:
    """What is trained, where that is not all of the model."""
    if asked.method and asked.method != "sft":
        yield Choice("method", asked.method, asked.method.upper(), Reason.ASKED)
    if asked.lora:
        over = f" over {asked.weights} weights" if asked.weights else ""
        yield Choice("lora", asked.lora, f"LoRA r{asked.lora}{over}", Reason.ASKED)


def _precision(model: Model, asked: Options, used: Recipe, device: Capabilities) -> Choice:
    """fp16 stands for bf16 on devices that have none, and takes the same."""
    instead = training_replacement(device, used)
    if instead:
        return Choice("precision", used.name, used.name.replace("bf16", "fp16"), Reason.DEVICE, instead)
    reason = Reason.ASKED if asked.precision else Reason.MODEL
    why = "" if asked.precision else f"; {_stored_in(model)}"
    return Choice("precision", used.name, used.name, reason, f"{used.name}: {used.about}{why}")


def _stored_in(model: Model) -> str:
    stored = model.spec.precision
    return f"the model's files have {stored}" if stored else "the model's files name no number format"


def _recompute(asked: Options, made: Run) -> Choice:
    words = {"none": f"no {FULL}", "core": f"selective {FULL}", "ops": f"op-level {FULL}", "block": FULL}
    reason = Reason.ASKED if asked.recompute else Reason.CODE
    return Choice("recompute", asked.recompute or "none", words[made.recompute], reason)


def _optimizer(asked: Options, used: Optimizer, by: Code) -> Choice:
    reason = Reason.ASKED if asked.optimizer else Reason.CODE
    text = "" if asked.optimizer else f"optimizer {used.name}, the default of {by.words}"
    return Choice("optimizer", used.name, used.name, reason, text)


def _set_by_code(asked: Options, made: Run) -> Iterator[Choice]:
    """What the code's own configs choose, where the question leaves it open."""
    name = made.code.name
    if made.loss_chunks > 1:
        reason = Reason.ASKED if asked.loss_chunks else Reason.CODE
        text = "" if asked.loss_chunks else f"loss in {made.loss_chunks} chunks, as {name} computes it"
        yield Choice("loss_chunks", made.loss_chunks, f"loss in {made.loss_chunks} chunks", reason, text, Topic.CODE)
    if made.accumulate > 1:
        yield _accumulate(asked, made)
    if made.compile != "none":
        reason = Reason.CODE if asked.compile == "code" else Reason.ASKED
        text = f"{name} compiles: {made.compile}" if asked.compile == "code" else ""
        yield Choice("compile", made.compile, f"torch.compile ({made.compile})", reason, text, Topic.CODE)


def _accumulate(asked: Options, made: Run) -> Choice:
    words, number = f"{made.accumulate} micro-batches", made.accumulate
    if asked.accumulate:
        return Choice("accumulate", number, words, Reason.ASKED)
    if made.plan.pp > 1:
        text = f"{words} a step, so that every pipeline stage has one to work on"
        return Choice("accumulate", number, words, Reason.ARCHCALC, text, Topic.PARALLELISM)
    text = f"gradients of several micro-batches are accumulated, as in {made.code.name}'s configs"
    return Choice("accumulate", number, words, Reason.CODE, text, Topic.CODE)


# Notes


def _notes(model: Model, asked: Options, made: Run) -> Iterator[Assumption]:
    assert made.recipe
    yield from support.assumed(asked, made.code)
    if made.plan.ep > 1:
        yield Assumption(Topic.PARALLELISM, "tokens are spread evenly over experts: every GPU gets as many as it sends")
    yield from methods.assumed(asked, made.method, made.recipe)
    if model.stored and model.stored.is_quantised and not asked.weights:
        text = f"training uses unquantised weights, not the format they are stored in ({model.stored.name})"
        yield Assumption(Topic.WEIGHTS, text, made.recipe.weights)


def _unverified(made: Run) -> list[str]:
    """Assumptions that archcalc has not verified against a real run."""
    found = [one.estimate for one in (made.recipe, made.optimizer) if one and one.estimate]
    found += methods.estimated(made.method)
    if made.plan.cp > 1 and made.code.habits.context == "gathered":
        found.append("context parallelism: keys and values are all-gathered for attention")
    if made.compile != "none":
        found.append("torch.compile: assumes elementwise ops are fused, and recomputed instead of saved")
    if made.loss_chunks > 1 and made.code.habits.loss_chunks in ("freed", "backward"):
        found.append("chunked cross-entropy: each chunk's logits are freed before the next")
    found.extend(made.offload.estimates())
    if made.format.is_quantised:
        found.append("quantised training: weights are dequantised to 16 bits one layer at a time")
    if made.format.is_quantised and made.recipe and made.recipe.products == "fp8":
        found.append("fp8 with quantised weights: only the adapters' matrix products are computed in fp8")
    return found
