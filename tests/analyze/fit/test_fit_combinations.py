"""Where no single change makes a model fit: several that do, as a user can type them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Run

CASES = {
    "a 70B in training, of which one block's activations fit": ("llama-3-70b", "h100", "--mode train --seq 4096"),
    "so many sequences that no device holds them": ("llama-3-70b", "h100", "--mode train --seq 4096 --batch 8"),
    "a cache that is larger than the weights": ("llama-3-70b", "rtx-4090", "--batch 64 --seq 8192"),
    "a small device": ("gpt2-xl", "rtx-3060", "--mode train --batch 32"),
}


def fitted(run: Run, *words: str) -> Any:
    return run("fit", *words, "--format", "json").json


@pytest.mark.parametrize("case", CASES)
def test_each_way_is_enough_as_it_is_typed(case: str, run: Run) -> None:
    """The same command with those options fits, and needs what was said."""
    model, gpu, words = CASES[case]
    asked = (model, "--gpu", gpu, *words.split())
    ways = fitted(run, *asked)["together"]
    assert ways
    for way in ways:
        answer = fitted(run, *asked, *way["option"].split())
        assert answer["rows"][0]["fits"]
        assert (answer["required_bytes"], answer["gpus"]) == (way["required_bytes"], way["gpus"])


def test_nothing_is_changed_that_need_not_be(run: Run) -> None:
    """Without any of them it is not enough."""
    model, gpu, words = CASES["a small device"]
    asked = (model, "--gpu", gpu, *words.split())
    *_, way = fitted(run, *asked)["together"]
    assert way["option"] == "--batch 1 --accumulate 32 --recompute full --optimizer adam8bit --precision bf16"
    for idle in ("--recompute full", "--optimizer adam8bit", "--precision bf16", "--batch 1 --accumulate 32"):
        rest = way["option"].replace(idle, "").split()
        assert not fitted(run, *asked, *rest)["rows"][0]["fits"], idle


def test_the_ways_are_told_first(run: Run) -> None:
    told = run("fit", "llama-3-70b", "--gpu", "h100", "--mode", "train", "--seq", "4096").out.splitlines()
    assert told[2] == "no single change is enough, but together:"
    assert told[3].endswith("GiB on 25 × h100: --recompute full --dp 25 --zero 3")
    assert told[4].endswith("GiB on h100: --recompute full --lora 16 --weights nf4")


def test_one_device_less_is_not_enough(run: Run) -> None:
    """Of those on which the first way spreads the model."""
    asked = ("llama-3-70b", "--gpu", "h100", "--mode", "train", "--seq", "4096", "--recompute", "full", "--zero", "3")
    assert not fitted(run, *asked, "--dp", "24")["rows"][0]["fits"]


def test_a_single_change_is_told_alone(run: Run) -> None:
    """As it was: the cheapest one."""
    answer = fitted(run, "llama-3-8b", "--gpu", "rtx-3060")
    assert answer["rows"][0]["remedy"] and answer["together"] == []


def test_what_no_change_makes_fit_is_told(run: Run) -> None:
    """Half of a mixture's block is more than the device."""
    answer = run("fit", "deepseek-v3", "--gpu", "rtx-3060", "--mode", "train", "--seq", "64")
    assert "no single change is enough, nor are all together" in answer.out
