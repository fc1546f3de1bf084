"""How a training run is filled in: code, precision, kernel, checkpointing, optimizer, as the code has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.core.assumptions import Assumption, Topic
from archcalc.network import Network
from archcalc.run import methods
from archcalc.run.choice import Choice, Reason
from archcalc.run.code import Code, code, support, usual_code
from archcalc.run.code.recipes import meant, recipe_defaults
from archcalc.run.device.capabilities import NOTHING_KNOWN
from archcalc.run.device.training import training_refusal
from archcalc.run.kernels import torch_kernel
from archcalc.run.offload import Offload
from archcalc.run.optimizers import optimizer
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.options import Options
from archcalc.run.precision_recipes import WIDE_FILES
from archcalc.run.resolved import Run
from archcalc.run.training_choices import (
    Defaults,
    code_choice,
    method_choices,
    precision_choice,
    recipe_choices,
)
from archcalc.storage import named_formats


def training_run(model: Network, asked: Options) -> Run:
    """The options of a training step, with defaults filled in."""
    used, of_code = _code(model, asked)
    support.check(asked, used, model.spec.family)
    usual = recipe_defaults(used, asked)
    precision = asked.precision or _usual_precision(model, usual)
    kept = meant(precision, used, asked).loaded_from(model.spec.precision)
    device = asked.device.capabilities if asked.device else NOTHING_KNOWN
    if refused := training_refusal(device, kept):
        raise refused
    offload = Offload.of(asked)
    offload.check_code(used.name, keeps_gradients=used.habits.gradients == "resident")
    attention = torch_kernel(asked.attention, device, kept.activations, used)
    recompute = asked.recompute or (str(usual["recompute"].value) if "recompute" in usual else "none")
    chunks, plan = asked.loss_chunks or used.habits.chunks, asked.plan
    if used.habits.vocabulary == "padded":
        plan = replace(plan, padded_to=used.number("vocabulary_rows"))
    made = Run(
        mode="train",
        plan=plan,
        format=named_formats.weight_format(asked.weights or kept.of_frozen),
        activations=kept.activations,
        attention=str(attention.value),
        recipe=kept,
        optimizer=optimizer(asked.optimizer or usual["optimizer"].value),
        accumulate=asked.accumulate or max(asked.plan.pp, used.habits.micro_batches),
        recompute=RECOMPUTE[recompute],
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
    choices = (
        *method_choices(asked),
        precision_choice(model, asked, kept, usual, device),
        attention,
        *recipe_choices(asked, made, usual),
        of_code,
    )
    estimates = (*_unverified(made), *support.unmeasured(asked, used, precision=kept.word, attention=made.attention))
    return replace(made, choices=choices, assumptions=tuple(_notes(model, asked, made)), estimates=estimates)


def _code(model: Network, asked: Options) -> tuple[Code, Choice]:
    """The one that was asked for, or the one that people train such a model with."""
    chosen = code(asked.code, model.model_type, model.config) if asked.code else None
    used = chosen or usual_code(model.model_type, model.config)
    reason = Reason.ASKED if asked.code else Reason.ARCHCALC
    return used.with_habits(asked.habit or ()), code_choice(used, reason)


def _usual_precision(model: Network, usual: Defaults) -> str:
    """That of the code's recipe, or mixed for a model whose files are in 16 bits."""
    if "precision" in usual:
        return str(usual["precision"].value)
    return "fp32" if model.spec.precision in WIDE_FILES else "mixed"


# Notes


def _notes(model: Network, asked: Options, made: Run) -> Iterator[Assumption]:
    assert made.recipe
    yield from support.assumed(asked, made.code)
    if made.plan.ep > 1:
        yield Assumption(Topic.PARALLELISM, "tokens are spread evenly over experts: every GPU gets as many as it sends")
    if made.method.reads_tokens:
        yield from methods.assumed(asked, made.method, made.recipe)
    if model.stored and model.stored.is_quantised and not asked.weights:
        text = f"training uses unquantised weights, not the format they are stored in ({model.stored.name})"
        yield Assumption(Topic.WEIGHTS, text, made.recipe.weights)


def _unverified(made: Run) -> list[str]:
    """Assumptions that archcalc has not verified against a real run."""
    found = [one.estimate for one in (made.recipe, made.optimizer) if one and one.estimate]
    if made.method.reads_tokens:
        found.append(f"{made.method.name.upper()}: after TRL's source; no measured run is known to confirm it")
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
