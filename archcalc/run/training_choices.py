"""The choices of a training run in words, each with its reason: what was asked for, or where the value comes from."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.assumptions import Topic
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.code import PLAIN
from archcalc.run.code.recipes import Default
from archcalc.run.device.capabilities import Capabilities
from archcalc.run.options import Options
from archcalc.run.precision_recipes import training_replacement
from archcalc.run.resolved import Run

Defaults = dict[str, Default]
NO_DEFAULT = Default("none", "", "")
CHECKPOINTING = {
    "none": "no activation checkpointing",
    "core": "selective activation checkpointing",
    "ops": "op-level activation checkpointing",
    "block": "activation checkpointing",
}


def training_choices(
    model: Network, asked: Options, made: Run, usual: Defaults, attention: Choice, device: Capabilities
) -> Iterator[Choice]:
    """In the order of the first line: what is trained, where that is not all of the model by its own loss, then how."""
    if asked.method and asked.method != "sft":
        yield Choice("method", asked.method, asked.method.upper(), Reason.ASKED)
    if asked.lora:
        over = f" over {asked.weights_words} weights" if asked.weights else ""
        yield Choice("lora", asked.lora, f"LoRA r{asked.lora}{over}", Reason.ASKED)
    yield _precision(model, asked, made, usual, device)
    yield attention
    yield from _recipe(asked, made, usual)
    whose = "" if made.code.name == PLAIN or asked.code else ", which has this model's class"
    reason, words = Reason.ASKED if asked.code else Reason.ARCHCALC, made.code.words
    yield Choice("code", made.code.name, words, reason, f"code: {words}, {made.code.about}{whose}")


def _precision(model: Network, asked: Options, made: Run, usual: Defaults, device: Capabilities) -> Choice:
    """fp16 stands for bf16 on devices that have none, and takes the same."""
    used = made.recipe
    assert used
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


def _recipe(asked: Options, made: Run, usual: Defaults) -> Iterator[Choice]:
    """What the code's recipe leaves out is not worth a line."""
    default, words = usual.get("recompute", NO_DEFAULT), CHECKPOINTING[made.recompute]
    recompute, why = asked.recompute or str(default.value), f"{words}: {default.why}" if default.why else ""
    yield _filled("recompute", recompute, words, asked.recompute, why, Topic.CODE)
    assert made.optimizer
    name = made.optimizer.name
    yield _filled("optimizer", name, name, asked.optimizer, f"optimizer {name}: {usual['optimizer'].why}")
    if made.loss_chunks > 1:
        words = f"loss in {made.loss_chunks} chunks"
        why = f"{words}, as {made.code.name} computes it"
        yield _filled("loss_chunks", made.loss_chunks, words, asked.loss_chunks, why, Topic.CODE)
    if made.accumulate > 1 and made.plan.pp > 1 and not asked.accumulate:
        words = f"{made.accumulate} micro-batches"
        why = f"{words} a step, so that every pipeline stage has one to work on"
        yield Choice("accumulate", made.accumulate, words, Reason.ARCHCALC, why, Topic.PARALLELISM)
    elif made.accumulate > 1:
        why = f"gradients of several micro-batches are accumulated, as in {made.code.name}'s configs"
        words = f"{made.accumulate} micro-batches"
        yield _filled("accumulate", made.accumulate, words, asked.accumulate, why, Topic.CODE)
    if made.compile != "none":
        words, why = f"torch.compile ({made.compile})", f"{made.code.name} compiles: {made.compile}"
        yield _filled("compile", made.compile, words, asked.compile != "code", why, Topic.CODE)


def _filled(name: str, value: str | int, words: str, asked: object, why: str, topic: Topic | None = None) -> Choice:
    """A value that was asked for, or that of the code."""
    if asked:
        return Choice(name, value, words, Reason.ASKED)
    return Choice(name, value, words, Reason.CODE, why, topic)
