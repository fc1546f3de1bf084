"""Several devices that hold a model together: a budget of equal ones, and layers split among unequal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import archcalc
from archcalc.core.errors import InputError
from archcalc.run.device import group

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30


@pytest.mark.parametrize(
    ("text", "count", "name"),
    [
        ("h100", 1, "h100"),
        ("2xrtx-3090", 2, "2xrtx-3090"),
        ("8 x H100", 8, "8xh100"),
        ("2x24GiB", 2, "2x24GiB"),
        ("rtx-5070-ti+rtx-5090", 2, "rtx-5070-ti+rtx-5090"),
        ("2×t4 + h100", 3, "2xt4+h100"),
    ],
)
def test_names(text: str, count: int, name: str) -> None:
    assert (group(text).count, group(text).name) == (count, name)


def test_a_budget_gets_a_plan_that_is_said() -> None:
    """Tensor parallelism in inference, ZeRO-3 in training."""
    model = archcalc.load("gpt2")
    for mode, plan in (("infer", {"tp": 2}), ("train", {"dp": 2, "zero": 3})):
        report = archcalc.fit(model, gpus=["2xh100"], mode=mode)
        asked = model.memory(mode=mode, gpu="h100", **plan)  # type: ignore[arg-type]
        assert report.rows[0].required_bytes == asked.required_bytes
        assert any("no plan was given" in str(note) for note in report.assumptions)


def test_a_plan_for_another_number_is_refused() -> None:
    """One for as many is used."""
    model = archcalc.load("llama-3-8b")
    with pytest.raises(InputError, match=r"are 4 GPUs, and the plan \(tp 2\) is for 2"):
        archcalc.fit(model, gpus=["4xh100"], tp=2)
    report = archcalc.fit(model, gpus=["4xh100"], tp=2, dp=2)
    assert report.memory.plan.gpus == 4


@pytest.mark.parametrize("options", [{"tp": 2}, {"mode": "train"}])
def test_unequal_devices_take_no_equal_parts(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="are unequal"):
        archcalc.fit(archcalc.load("llama-3-8b"), gpus=["t4+h100"], **options)  # type: ignore[arg-type]


def test_layers_are_split_by_memory() -> None:
    """Llama 3 8B over 10 and 20 GiB: each layer's 218,112,000 weights and its cache are on one of them."""
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["10GiB+20GiB"], seq=4096, engine="plain")
    small, large = report.rows[0].parts
    assert (small.layers[0], large.layers[1]) == (0, 32) and small.layers[1] == large.layers[0]
    number = small.layers[1]
    layer = 2 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) + 4096 * 2 * 8 * 128 * 2
    memory = archcalc.load("llama-3-8b").memory(seq=4096)
    besides = memory.parts["activations"] + memory.parts["overhead"]
    table = 2 * 128_256 * 4096
    assert small.required_bytes == number * layer + table + besides
    assert large.required_bytes == (32 - number) * layer + table + 2 * 4096 + besides


def test_no_other_split_leaves_the_fullest_device_emptier() -> None:
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["10GiB+20GiB"], seq=4096, engine="plain")
    small, large = report.rows[0].parts
    layer = 2 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) + 4096 * 2 * 8 * 128 * 2
    fullest = max(small.required_bytes / 10, large.required_bytes / 20)
    for moved in (-layer, layer):
        assert max((small.required_bytes + moved) / 10, (large.required_bytes - moved) / 20) > fullest


def test_the_fullest_device_decides() -> None:
    """And so it does about the longest context."""
    report = archcalc.fit(archcalc.load("qwen3-8b"), gpus=["8GiB+16GiB"], seq=4096, engine="plain")
    (row,) = report.rows
    assert row.verdict is max((part.verdict for part in row.parts), key=lambda one: one.value)
    assert row.fits and row.max_seq
    longer = archcalc.fit(archcalc.load("qwen3-8b"), gpus=["8GiB+16GiB"], seq=row.max_seq + 1, engine="plain")
    assert longer.rows[0].verdict.value != "fits"


def test_two_macs_hold_layers_in_turn() -> None:
    """They share no layer."""
    (row,) = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["2xm4-16gb"]).rows
    assert [part.gpu for part in row.parts] == ["m4-16gb", "m4-16gb"]


def test_a_split_is_shown_device_by_device(run: Run) -> None:
    answer = run("fit", "qwen3-8b", "--gpu", "rtx-5070-ti+rtx-5090", "--notes")
    assert "rtx-5070-ti  1 to " in answer.out and "split by memory" in answer.out
    (row,) = run("fit", "qwen3-8b", "--gpu", "rtx-5070-ti+rtx-5090", "--format", "json").json["rows"]
    assert [part["gpu"] for part in row["parts"]] == ["rtx-5070-ti", "rtx-5090"]
    assert sum(part["required_bytes"] for part in row["parts"]) == row["required_bytes"]
