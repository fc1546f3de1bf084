"""How a training run is filled in: code, precision, kernel, checkpointing, optimizer, as the code has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.run import methods
from archcalc.run.code import code, rules
from archcalc.run.code.rules import meant, recipe_defaults
from archcalc.run.device.capabilities import NOTHING_KNOWN
from archcalc.run.kernels import torch_kernel
from archcalc.run.offload import UPDATED_THERE
from archcalc.run.optimizers import optimizer
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.options import Options
from archcalc.run.precision_recipes import training_replacement
from archcalc.run.resolved import Run
from archcalc.run.training_choices import NO_DEFAULT, training_choices
from archcalc.storage import named_formats


def training_run(model: Network, asked: Options) -> Run:
    """The options of a training step, with defaults filled in: those of the code that was asked for, or of the one that
    people train such a model with."""
    used = code(asked.code, model.model_type, model.config)
    if asked.habit:
        used = used.with_habits(asked.habit)
    rules.check(asked, used, model.spec.family)
    usual, habits = recipe_defaults(used, asked), used.habits
    kept = meant(used, asked, usual, model.spec.precision)
    device = asked.device.capabilities if asked.device else NOTHING_KNOWN
    instead, offloaded = training_replacement(device, kept), asked.offload or ()
    if habits.gradients == "resident" and not set(offloaded).isdisjoint(UPDATED_THERE):
        fact = f"archcalc does not know how {used.name} updates weights in host RAM"
        raise InputError(fact, "leave --code out, or optimizer and params", field="--offload")
    attention = torch_kernel(asked.attention, device, kept.activations, used)
    chunks = asked.loss_chunks or habits.usual_chunks
    made = Run(
        mode="train",
        trains=True,
        plan=replace(asked.plan, padded_to=habits.vocabulary_rows),
        format=named_formats.weight_format(asked.weights or kept.frozen),
        activations=kept.activations,
        attention=str(attention.value),
        recipe=kept,
        optimizer=optimizer(asked.optimizer or usual["optimizer"].value),
        accumulate=asked.accumulate or max(asked.plan.pp, habits.micro_batches),
        recompute=RECOMPUTE[asked.recompute or str(usual.get("recompute", NO_DEFAULT).value)],
        loss_chunks=chunks,
        compile=habits.compiles(chunks) if asked.compile == "code" else asked.compile or "none",
        reshard=asked.reshard_after_forward or habits.reshard,
        code=used,
        allocator=asked.allocator or habits.allocator,
        method=methods.method(asked),
        freeze=asked.freeze or (),
        lora=asked.lora,
        lora_targets=asked.lora_targets or (),
        overhead=asked.overhead,
    )
    choices = tuple(training_choices(model, asked, made, usual, attention, instead))
    notes, estimates = tuple(_notes(model, asked, made)), tuple(_estimates(asked, made))
    return replace(made, choices=choices, assumptions=notes, estimates=estimates)


# Notes


def _notes(model: Network, asked: Options, made: Run) -> Iterator[Assumption]:
    assert made.recipe
    given, known = {one.partition("=")[0] for one in asked.habit or ()}, rules.said(asked, made.code)
    for rule in made.code.file.assumed:  # the habits that people choose differently, unless they were given
        if rule.first not in given and rule.holds(known):
            text = f"{made.code.name}: {rule.first}={known[rule.first]}, {rule.about}"
            yield Assumption(Topic.CODE, text, known[rule.first], "--habit")
    if made.plan.ep > 1:
        yield Assumption(Topic.PARALLELISM, "tokens are spread evenly over experts: every GPU gets as many as it sends")
    if made.method.reads_tokens:
        yield from methods.assumed(asked, made.method, made.recipe)
    if model.stored and model.stored.is_quantised and not asked.weights:
        text = f"training uses unquantised weights, not the format they are stored in ({model.stored.name})"
        yield Assumption(Topic.WEIGHTS, text, made.recipe.weights)


def _estimates(asked: Options, made: Run) -> Iterator[str]:
    """Assumptions that archcalc has not verified against a real run."""
    recipe, habits = made.recipe, made.code.habits
    assert recipe
    yield from (one.estimate for one in (recipe, made.optimizer) if one and one.estimate)
    if made.method.reads_tokens:
        yield f"{made.method.name.upper()}: after TRL's source; no measured run is known to confirm it"
    if made.plan.cp > 1 and habits.context == "gathered":
        yield "context parallelism: keys and values are all-gathered for attention"
    if made.compile != "none":
        yield "torch.compile: assumes elementwise ops are fused, and recomputed instead of saved"
    if made.loss_chunks > 1 and habits.loss_chunks in ("freed", "packed", "backward"):
        yield "chunked cross-entropy: each chunk's logits are freed before the next"
    offloaded = asked.offload or ()
    if "optimizer" in offloaded:
        yield "offloaded optimizer: host RAM as DeepSpeed's tensors fill it; gradients leave the GPU block by block"
    elif "params" in offloaded:
        yield "offloaded parameters: as FSDP2's CPUOffloadPolicy with pinned memory; the CPU updates them"
    if "activations" in offloaded:
        yield "offloaded activations: a block's leave while the next computes, and are back one block ahead"
    if made.format.is_quantised:
        yield "quantised training: weights are dequantised to 16 bits one layer at a time"
    if made.format.is_quantised and recipe.products == "fp8":
        yield "fp8 with quantised weights: only the adapters' matrix products are computed in fp8"
    known = rules.said(asked, made.code) | {"precision": recipe.word, "attention": made.attention}
    yield from (rule.about for rule in made.code.file.unmeasured if rule.holds(known))
