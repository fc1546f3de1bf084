"""The one place where a question becomes a run: what was left out is filled in, each value with its reason.

    resolve(model, Options.of("memory", {"mode": "train", "lora": 16}))

Every command asks here, so that the same question has the same run everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.core.assumptions import Topic
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.code.library import PLAIN
from archcalc.run.code.refusal import NotLowered
from archcalc.run.device.host import CPU
from archcalc.run.offload import Offload
from archcalc.run.options import Options
from archcalc.run.resolve_inference import inference_run
from archcalc.run.resolve_training import training_run
from archcalc.run.resolved import Run
from archcalc.run.tree_changes import tree_changes


def resolve(model: Network, asked: Options) -> Run:
    """Options that are not given get the defaults of the code or engine that runs, as model and device allow."""
    filled = _training(model, asked) if asked.trains else inference_run(model, asked)
    offload = Offload.of(asked)
    on_cpu = asked.device is not None and asked.device.kind == CPU
    if on_cpu and offload:
        hint = "leave --ngl and --offload out, or name a GPU"
        raise InputError("a CPU computes in host RAM, and has no GPU beside it", hint, field="--gpu")
    if "embedding" in filled.engine.rules.host and not on_cpu:
        offload = replace(offload, embedding=True)
    choices = (*_plan(asked), *filled.choices)
    made = replace(filled, choices=choices, said=frozenset(asked.given), offload=offload)
    return replace(made, cards=asked.device.cards(asked.plan.gpus), devices=asked.device.kind) if asked.device else made


def _training(model: Network, asked: Options) -> Run:
    """By the code that people train such a model with, or PyTorch's own modules where a layer of it is not known."""
    usual = training_run(model, asked)
    if asked.code or usual.code.is_plain:
        return usual
    try:
        model.build(model.workload(mode="train", attention=usual.attention), tuple(tree_changes(usual)))
    except NotLowered as refused:
        plain = training_run(model, replace(asked, code=PLAIN))
        *others, code = plain.choices
        text = f"{code.text}, since {refused.fact}"
        return replace(plain, choices=(*others, replace(code, reason=Reason.ARCHCALC, text=text)))
    return usual


def _plan(asked: Options) -> Iterator[Choice]:
    """How the model is divided over GPUs, where it is."""
    words = " · ".join(asked.plan.words())
    if asked.is_planned:
        text = f"{words}: no plan was given; --tp, --dp and --zero give one"
        yield Choice("plan", words, words, Reason.ARCHCALC, text, Topic.PARALLELISM, is_fixed=True)
    elif words:
        yield Choice("plan", words, words, Reason.ASKED)
