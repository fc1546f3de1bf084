"""How a training run is filled in: code, precision, kernel, checkpointing, optimizer, as the code has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.run import methods
from archcalc.run.choice import Choice, Reason
from archcalc.run.code import PLAIN, code, rules
from archcalc.run.code.library import Code
from archcalc.run.code.rules import Default, meant, recipe_defaults
from archcalc.run.device.capabilities import NOTHING_KNOWN
from archcalc.run.kernels import torch_kernel
from archcalc.run.offload import UPDATED_THERE
from archcalc.run.optimizers import optimizer
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.options import Options
from archcalc.run.precision_recipes import training_replacement
from archcalc.run.resolved import Run
from archcalc.storage import named_formats


def training_run(model: Network, asked: Options) -> Run:
    """The options of a training step, with defaults filled in: those of the code that was asked for, or of the one that
    people train such a model with."""
    used = code(asked.code, model.model_type, model.config)
    if asked.code_option:
        used = used.with_habits(asked.code_option)
    rules.check(asked, used, model.spec.family)
    usual, habits = recipe_defaults(used, asked), used.habits
    kept = meant(used, asked, usual, model.spec.precision)
    device = asked.device.capabilities if asked.device else NOTHING_KNOWN
    instead, offloaded = training_replacement(device, kept), asked.offload or ()
    if habits.gradients == "resident" and not set(offloaded).isdisjoint(UPDATED_THERE):
        fact = f"archcalc does not know how {used.name} updates weights in host RAM"
        raise InputError(fact, "leave --code out, or optimizer and params", field="--offload")
    attention = torch_kernel(asked.attention, device, kept.activations, used)
    how = methods.method(asked, is_fused=habits.token_head == "fused")
    chunks = 1 if how.reads_tokens and not how.is_fused else asked.loss_chunks or habits.usual_chunks
    made = Run(
        mode="train",
        trains=True,
        plan=replace(asked.plan, padded_to=habits.vocabulary_rows, sp=asked.plan.sp or _splits_sequence(asked, used)),
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
        method=how,
        freeze=asked.freeze or (),
        lora=asked.lora,
        lora_targets=asked.lora_targets or (),
        overhead=asked.overhead,
    )
    choices = tuple(_choices(model, asked, made, usual, attention, instead))
    notes, estimates = tuple(_notes(model, asked, made)), tuple(_estimates(asked, made))
    return replace(made, choices=choices, assumptions=notes, estimates=estimates)


def _splits_sequence(asked: Options, used: Code) -> bool:
    return asked.plan.tp > 1 and used.habits.tensor_parallel == "sequence"


# Notes


def _notes(model: Network, asked: Options, made: Run) -> Iterator[Assumption]:
    assert made.recipe
    given, known = {one.partition("=")[0] for one in asked.code_option or ()}, rules.said(asked, made.code)
    for rule in made.code.file.assumed:  # the habits that people choose differently, unless they were given
        if rule.first not in given and rule.holds(known):
            text = f"{made.code.name}: {rule.first}={known[rule.first]}, {rule.about}"
            yield Assumption(Topic.CODE, text, known[rule.first], "--code-option")
    if _splits_sequence(asked, made.code) and not asked.sp:
        text = f"sequence parallelism between tensor parallel layers, as {made.code.name} has it"
        yield Assumption(Topic.PARALLELISM, text, True, "--sp")
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
        yield "offloaded optimizer: host RAM as DeepSpeed's pinned buffers fill it; gradients leave block by block"
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


# The choices in words, each with its reason: what was asked for, or where the value comes from

Defaults = dict[str, Default]
NO_DEFAULT = Default("none", "", "")
CHECKPOINTING = {
    "none": "no activation checkpointing",
    "core": "selective activation checkpointing",
    "ops": "op-level activation checkpointing",
    "block": "activation checkpointing",
}


def _choices(
    model: Network, asked: Options, made: Run, usual: Defaults, attention: Choice, instead: str
) -> Iterator[Choice]:
    """In the order of the first line: what is trained, where that is not all of the model by its own loss, then how.
    `instead` says that fp16 stands for bf16 on the device."""
    if asked.method and asked.method != "sft":
        yield Choice("method", asked.method, asked.method.upper(), Reason.ASKED)
    if asked.lora:
        over = f" over {asked.weights_words} weights" if asked.weights else ""
        yield Choice("lora", asked.lora, f"LoRA r{asked.lora}{over}", Reason.ASKED)
    yield _precision(model, asked, made, usual, instead)
    yield attention
    for each in _of_code(asked, made, usual):
        is_asked = getattr(asked, each.name) not in (None, "code")
        yield Choice(each.name, each.value, each.words, Reason.ASKED) if is_asked else each
    whose = "" if made.code.name == PLAIN or asked.code else ", which has this model's class"
    reason, words = Reason.ASKED if asked.code else Reason.ARCHCALC, made.code.words
    yield Choice("code", made.code.name, words, reason, f"code: {words}, {made.code.file.about}{whose}")


def _precision(model: Network, asked: Options, made: Run, usual: Defaults, instead: str) -> Choice:
    used = made.recipe
    assert used
    reason, words, text = Reason.ASKED, used.words, f"{used.word}: {used.about}"
    if instead:
        reason, words, text = Reason.DEVICE, words.replace("bf16", "fp16"), instead
    elif not asked.precision and "precision" in usual:
        reason, text = Reason.CODE, f"{text}; {usual['precision'].why}"
    elif not asked.precision:
        stored = model.spec.precision
        why = f"the model's files have {stored}" if stored else "the model's files name no number format"
        reason, text = Reason.MODEL, f"{text}; {why}"
    return Choice("precision", used.word, words, reason, text)


def _of_code(asked: Options, made: Run, usual: Defaults) -> Iterator[Choice]:
    """As the code runs it. What its recipe leaves out is not worth a line."""
    default, words = usual.get("recompute", NO_DEFAULT), CHECKPOINTING[made.recompute]
    why, code = f"{words}: {default.why}" if default.why else "", made.code.name
    yield Choice("recompute", asked.recompute or str(default.value), words, Reason.CODE, why, Topic.CODE)
    assert made.optimizer
    name = made.optimizer.name
    yield Choice("optimizer", name, name, Reason.CODE, f"optimizer {name}: {usual['optimizer'].why}")
    if made.loss_chunks > 1:
        words = f"loss in {made.loss_chunks} chunks"
        why = f"{words}, as {code} computes it"
        yield Choice("loss_chunks", made.loss_chunks, words, Reason.CODE, why, Topic.CODE)
    words = f"{made.accumulate} micro-batches"
    if made.accumulate > 1 and made.plan.pp > 1:
        why = f"{words} a step, so that every pipeline stage has one to work on"
        yield Choice("accumulate", made.accumulate, words, Reason.ARCHCALC, why, Topic.PARALLELISM)
    elif made.accumulate > 1:
        why = f"gradients of several micro-batches are accumulated, as in {code}'s configs"
        yield Choice("accumulate", made.accumulate, words, Reason.CODE, why, Topic.CODE)
    if made.compile != "none":
        words, why = f"torch.compile ({made.compile})", f"{code} compiles: {made.compile}"
        yield Choice("compile", made.compile, words, Reason.CODE, why, Topic.CODE)
