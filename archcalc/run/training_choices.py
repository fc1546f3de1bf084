"""The choices of a training run in words, each with its reason: what was asked for, or where the value comes from."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.assumptions import Topic
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.code import PLAIN
from archcalc.run.code.rules import Default
from archcalc.run.options import Options
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
