"""A model is traced once for each workload, and a tree that is shared stays as it was."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.analyze.memory.peak import peak, played
from archcalc.archs.transformer import build
from archcalc.core.ir import Module
from archcalc.run.lora import Lora
from archcalc.spec.traces import MOST, sizes_of
from archcalc.spec.workload import Workload


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The workloads that a Transformer is traced for, in order."""
    found: list[Any] = []
    for known in (peak, played):  # by other tests, which may have asked the same
        known.cache_clear()

    def noted(model: Any, work: Workload) -> Module:
        found.append(sizes_of(work))
        return build(model, work)

    monkeypatch.setattr("archcalc.archs.transformer.build", noted)
    return found


@pytest.mark.parametrize("mode", ["infer", "train"])
def test_an_answer_traces_each_workload_once(traced: list[Any], mode: str) -> None:
    """Of inference the prompt, the step after it, and the usual size for what depends on none; of training the step and
    the usual size, both also as the code had its layers earlier, and the forward pass alone."""
    archcalc.load("gpt2").memory(mode=mode, batch=3, seq=100)
    assert 0 < len(set(traced)) <= {"infer": 4, "train": 5}[mode] and len(traced) <= 2 * 3


def test_plans_and_remedies_share_what_is_traced(traced: list[Any]) -> None:
    """Only sizes that are solved for need a tree of their own, two for each."""
    archcalc.fit(archcalc.load("llama-3-8b"), gpus=["24GiB"])
    assert 0 < len(set(traced)) <= 13 and len(traced) <= len(set(traced)) + 2


def test_adapters_do_not_change_the_shared_tree() -> None:
    model = archcalc.load("gpt2")
    before = model.params().total
    model.flops(mode="train", lora=8)
    model.memory(mode="train", lora=8)
    assert model.params().total == before
    work = model.workload()
    assert model.build(work) is model.build(work) is not model.build(work, (Lora(8),))
    assert model.build(work, (Lora(8),)) is model.build(work, (Lora(8),))


def test_only_the_latest_trees_are_kept() -> None:
    model = archcalc.load("gpt2")
    first = model.build(model.workload(seq=1))
    for seq in range(2, 2 + MOST):
        model.build(model.workload(seq=seq))
    assert model.build(model.workload(seq=1)) is not first
