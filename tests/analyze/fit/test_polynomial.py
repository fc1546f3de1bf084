"""Bytes at any size from five simulated steps: equal to the simulation, or not offered."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.analyze.fit.polynomial import Step, fitted
from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.peak import peak
from archcalc.spec.sizes import Sizes

DEEP = {"family": "recurrent", "cell": "lstm", "hidden": 8, "vocab": 50, "embedding": 8}
SEQ2SEQ = {**DEEP, "encoder": {"layers": 3}, "decoder": {"layers": 3}, "attention": {"score": "dot", "when": "after"}}
QUESTIONS: list[tuple[Any, dict[str, Any]]] = [
    ("gpt2", {"mode": "train", "attention": "eager"}),
    ("llama-3-8b", {"mode": "infer", "kv_dtype": "q8_0"}),
    ("llama-3-8b", {"mode": "train", "recompute": "full", "lora": 8, "weights": "nf4"}),
    ("llama-3-8b", {"mode": "train", "dp": 8, "zero": 3, "tp": 2}),
    ("t5-small", {"mode": "train", "attention": "eager"}),
    ("mamba-130m", {"mode": "infer"}),
    ("sentiment-lstm", {"mode": "train"}),
    (SEQ2SEQ, {"mode": "infer"}),
    (SEQ2SEQ, {"mode": "train"}),
]


def by_batch(memory: Memory) -> Step | None:
    return fitted(lambda batch: peak(memory.deployment, Sizes(batch)).step, 2, 10**12)


def by_length(memory: Memory, most: int) -> Step | None:
    names = list(memory.deployment.network.resolved.lengths)
    return fitted(lambda length: peak(memory.deployment, Sizes(1, **lengths(names, length))).step, 16, most)


def lengths(names: list[str], length: int) -> dict[str, Any]:
    return {"seq": None, **dict.fromkeys(names, length)}


@pytest.mark.parametrize(("model", "options"), QUESTIONS)
def test_any_batch_is_what_the_simulation_says(model: Any, options: dict[str, Any]) -> None:
    memory = Memory(archcalc.load(model), **options)
    step = by_batch(memory)
    assert step
    for batch in (2, 7, 64, 1001, 10**9 + 7):
        assert step.peak(batch) == memory.total(batch)


@pytest.mark.parametrize(("model", "options"), QUESTIONS)
def test_any_length_is_what_the_simulation_says(model: Any, options: dict[str, Any]) -> None:
    memory = Memory(archcalc.load(model), **options)
    names = list(memory.deployment.network.resolved.lengths)
    most = 1024 if model == "gpt2" else 8192
    step = by_length(memory, most)
    assert step
    for length in (17, 100, 500, 1001):
        assert step.peak(length) == memory.total(1, **lengths(names, length))


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("mistral-7b", {"mode": "infer"}),  # a window of 4,096
        ("gemma-2-9b", {"mode": "infer", "kv_rule": "window+batch"}),  # and pages of 256
        ("gemma-3-1b", {"mode": "infer", "kv_rule": "vllm"}),  # and blocks of 16
        ("llama-3-8b", {"mode": "infer", "prefill": 512}),  # pieces of the prompt
        ("llama-3-8b", {"mode": "train", "tp": 2, "sp": True}),  # odd lengths are rounded up
    ],
)
def test_what_is_no_polynomial_is_simulated(model: str, options: dict[str, Any]) -> None:
    assert by_length(Memory(archcalc.load(model), **options), 8192) is None
