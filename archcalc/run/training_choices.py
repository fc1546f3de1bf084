"""The choices of a training run in words, each with its reason: what was asked for, or where the value comes from."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.assumptions import Topic
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.code import Code
from archcalc.run.code.recipes import Default
from archcalc.run.device.capabilities import Capabilities
from archcalc.run.device.training import training_replacement
from archcalc.run.options import Options
from archcalc.run.precision_recipes import Recipe
from archcalc.run.resolved import Run

Defaults = dict[str, Default]
CHECKPOINTING = {
    "none": "no activation checkpointing",
    "core": "selective activation checkpointing",
    "ops": "op-level activation checkpointing",
    "block": "activation checkpointing",
}


def code_choice(used: Code, reason: Reason) -> Choice:
    whose = "" if used.is_plain or reason is Reason.ASKED else ", which has this model's class"
    return Choice("code", used.name, used.words, reason, f"code: {used.words}, {used.about}{whose}")


def method_choices(asked: Options) -> Iterator[Choice]:
    """What is trained, where that is not all of the model by its own loss."""
    if asked.method and asked.method != "sft":
        yield Choice("method", asked.method, asked.method.upper(), Reason.ASKED)
    if asked.lora:
        over = f" over {asked.weights_words} weights" if asked.weights else ""
        yield Choice("lora", asked.lora, f"LoRA r{asked.lora}{over}", Reason.ASKED)


def precision_choice(model: Network, asked: Options, used: Recipe, usual: Defaults, device: Capabilities) -> Choice:
    """fp16 stands for bf16 on devices that have none, and takes the same."""
    instead = training_replacement(device, used)
    if instead:
        return Choice("precision", used.word, used.words.replace("bf16", "fp16"), Reason.DEVICE, instead)
    text = f"{used.word}: {used.about}"
    if asked.precision:
        return Choice("precision", used.word, used.words, Reason.ASKED, text)
    if "precision" in usual:
        return Choice("precision", used.word, used.words, Reason.CODE, f"{text}; {usual['precision'].why}")
    stored = model.spec.precision
    why = f"the model's files have {stored}" if stored else "the model's files name no number format"
    return Choice("precision", used.word, used.words, Reason.MODEL, f"{text}; {why}")


def recipe_choices(asked: Options, made: Run, usual: Defaults) -> Iterator[Choice]:
    """In the order of the first line."""
    yield _recompute(asked, made, usual)
    yield _optimizer(asked, made, usual)
    if made.loss_chunks > 1:
        yield _loss_chunks(asked, made)
    if made.accumulate > 1:
        yield _accumulate(asked, made)
    if made.compile != "none":
        yield _compile(asked, made)


def _recompute(asked: Options, made: Run, usual: Defaults) -> Choice:
    words, default = CHECKPOINTING[made.recompute], usual.get("recompute")
    if asked.recompute:
        return Choice("recompute", asked.recompute, words, Reason.ASKED)
    if default is None:
        return Choice("recompute", "none", words, Reason.CODE)
    return Choice("recompute", str(default.value), words, Reason.CODE, f"{words}: {default.why}", Topic.CODE)


def _optimizer(asked: Options, made: Run, usual: Defaults) -> Choice:
    assert made.optimizer
    name = made.optimizer.name
    if asked.optimizer:
        return Choice("optimizer", name, name, Reason.ASKED)
    return Choice("optimizer", name, name, Reason.CODE, f"optimizer {name}: {usual['optimizer'].why}")


def _loss_chunks(asked: Options, made: Run) -> Choice:
    words, number = f"loss in {made.loss_chunks} chunks", made.loss_chunks
    if asked.loss_chunks:
        return Choice("loss_chunks", number, words, Reason.ASKED)
    return Choice("loss_chunks", number, words, Reason.CODE, f"{words}, as {made.code.name} computes it", Topic.CODE)


def _accumulate(asked: Options, made: Run) -> Choice:
    words, number = f"{made.accumulate} micro-batches", made.accumulate
    if asked.accumulate:
        return Choice("accumulate", number, words, Reason.ASKED)
    if made.plan.pp > 1:
        text = f"{words} a step, so that every pipeline stage has one to work on"
        return Choice("accumulate", number, words, Reason.ARCHCALC, text, Topic.PARALLELISM)
    text = f"gradients of several micro-batches are accumulated, as in {made.code.name}'s configs"
    return Choice("accumulate", number, words, Reason.CODE, text, Topic.CODE)


def _compile(asked: Options, made: Run) -> Choice:
    words = f"torch.compile ({made.compile})"
    if asked.compile != "code":
        return Choice("compile", made.compile, words, Reason.ASKED)
    return Choice("compile", made.compile, words, Reason.CODE, f"{made.code.name} compiles: {made.compile}", Topic.CODE)
