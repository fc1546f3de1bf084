"""What makes a model fit: whatever is printed does so when it is typed, and nothing that cannot be done is printed."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.verdict import Verdict

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30
MODELS = (
    "gpt-oss-20b",
    "llama-3-8b",
    "qwen3-30b-a3b",
    "gpt2-xl",
    "gemma-3-12b",
    "mamba-2.8b",
    "bert-large",
    "t5-large",
    "gpt-oss-20b",
)
DEVICES = ("rtx-3060", "t4", "m3-24gb", "h100", "24GiB", "3GiB", "1GiB", "2xrtx-3060")
QUESTIONS: tuple[dict[str, str], ...] = (
    {},
    {"batch": "16"},
    {"seq": "8k", "mode": "prefill"},
    {"context": "4096", "mode": "decode"},
    {"mode": "train", "batch": "12"},
    {"mode": "train", "recompute": "full", "optimizer": "sgd"},
)
EVERY = list(product(MODELS, DEVICES, QUESTIONS))


def words(options: dict[str, str]) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name}", value) if word]


def overriding(asked: dict[str, str], option: str) -> list[str]:
    """The question with options as they are printed: one given twice is the later one; a flag has no value."""
    printed = (one.split() for one in f" {option}".split(" --")[1:])
    return words({**asked, **{name: " ".join(value) for name, *value in printed}})


@pytest.mark.wide
@pytest.mark.parametrize("seed", range(12))
def test_every_remedy_makes_it_fit_when_it_is_typed(seed: int, run: Run) -> None:
    """Random cases: of each, every row, run as a command of its own."""
    model, gpu, asked = Random(seed).choice(EVERY)
    answer = run("fit", model, "--gpu", gpu, *words(asked), "--format", "json")
    if answer.code:  # a model without a cache, or with fewer positions
        assert answer.code == 2
        return
    for remedy in answer.json["remedies"]:
        tried = run("fit", model, "--gpu", gpu, *overriding(asked, remedy["option"]), "--check", "--format", "json")
        assert tried.code == 0, (model, gpu, asked, remedy["option"], tried.err)
        assert (tried.json["required_bytes"], tried.json["gpus"]) == (remedy["required_bytes"], remedy["gpus"])


def options_of(report: FitReport) -> list[str]:
    return [remedy.change.option for remedy in report.remedies]


def test_they_are_listed_cheapest_first() -> None:
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["12GiB"], seq=8192, batch=4)
    costs = [remedy.change.cost for remedy in report.remedies]
    assert len(costs) > 1 and costs == sorted(costs)
    assert report.rows[0].remedy == report.remedies[0]


def test_formats_go_down_to_two_bits() -> None:
    """DeepSeek-V3's 671 billion weights in 256 GiB."""
    report = archcalc.fit(archcalc.load("deepseek-v3"), gpus=["256GiB"])
    assert "--weights q2_k" in options_of(report)


def test_two_macs_are_no_tensor_parallel_pair() -> None:
    report = archcalc.fit(archcalc.load("llama-3-70b"), gpus=["m4-24gb"])
    assert not any("--tp" in option for option in options_of(report))
    assert report.rows[0].gpus_needed is None
    assert any("--tp" in one for one in options_of(archcalc.fit(archcalc.load("llama-3-70b"), gpus=["rtx-3090"])))


def test_four_bits_are_not_offered_for_what_has_four_bits() -> None:
    """gpt-oss is published in MXFP4: about 4.5 bits a weight."""
    report = archcalc.fit(archcalc.load("gpt-oss-120b"), gpus=["60GiB"])
    assert not any(one in option for option in options_of(report) for one in ("int4", "q4_k_m", "q8_0"))


def test_quantised_weights_are_no_help_for_an_encoder() -> None:
    """Activations are what BERT's training takes."""
    report = archcalc.fit(archcalc.load("bert-base"), gpus=["2GiB"], mode="train", batch=32)
    assert report.remedies and not any("nf4" in option for option in options_of(report))


def test_a_device_without_bf16_is_not_told_to_use_it() -> None:
    """A T4 computes in fp16."""
    report = archcalc.fit(archcalc.load("gpt2-xl"), gpus=["t4"], batch=16, precision="fp32")
    assert "--precision fp16" in options_of(report) and "--precision bf16" not in options_of(report)


def test_checkpointing_comes_before_more_gpus() -> None:
    """Of 8B on cards of 24 GB no number holds all activations; with checkpointing a few do, with 8-bit Adam fewer."""
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["rtx-4090"], mode="train")
    assert report.rows[0].gpus_needed is None
    first, second = (one for one in report.remedies if one.gpus > 1)
    assert "--recompute full" in first.change.option and "--optimizer" not in first.change.option
    assert "--precision bf16 --optimizer adam8bit" in second.change.option and second.gpus < first.gpus


@pytest.mark.wide
def test_nothing_is_changed_that_need_not_be(run: Run) -> None:
    """Without any one of a combination's options it does not fit."""
    question = {"mode": "train", "batch": "32", "precision": "fp32", "attention": "eager"}
    asked = ["gpt2-xl", "--gpu", "rtx-3060", *words(question)]
    (way, *_) = run("fit", *asked, "--format", "json").json["remedies"]
    batch, *others = [f"--{part}".strip() for part in way["option"].split("--")[1:]]
    micro, *others = [f"{batch} {others[0]}", *others[1:]]
    assert micro.startswith("--batch") and len(others) > 1
    for idle in (micro, *others):
        rest = way["option"].replace(idle, "").split()
        tried = run("fit", *asked, *rest, "--check", "--format", "json")
        assert tried.code, idle


def test_what_no_change_makes_fit_is_told(run: Run) -> None:
    """Half of a mixture's block is more than the device."""
    answer = run("fit", "deepseek-v3", "--gpu", "rtx-3060", "--mode", "train", "--seq", "64")
    assert "no change makes it fit, nor do all together" in answer.out


def test_a_smaller_batch_of_inference_is_the_largest_that_fits() -> None:
    """It need not divide what was asked for."""
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["20GiB"], batch=64)
    assert f"--batch {report.rows[0].max_batch}" in options_of(report)


def test_a_smaller_micro_batch_adds_up_to_the_batch() -> None:
    """Three sequences at a time would fit, and do not divide 64."""
    options: dict[str, Any] = {"mode": "train", "batch": 64, "precision": "fp32", "attention": "eager"}
    report = archcalc.fit(archcalc.load("gpt2"), gpus=["12GiB"], **options)
    assert report.rows[0].max_batch == 3
    assert "--batch 2 --accumulate 32" in options_of(report)


def test_gpus_in_use_share_the_states_before_more_are_asked_for() -> None:
    """ZeRO-3 on the same eight costs less than further ones."""
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["h100"], mode="train", dp=8)
    assert options_of(report)[0] == "--zero 3"
    assert report.remedies[0].gpus == 8


def test_each_device_has_its_own(run: Run) -> None:
    """Of several, the table has the smallest device that a change is enough for."""
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["24GiB", "14GiB", "7GiB"])
    assert [row.remedy and row.remedy.change.option for row in report.rows] == [
        None,
        "--weights q8_0",
        "--weights q5_k_m",
    ]
    assert all(one.required <= 14 * GIB for one in report.remedies)
    assert report.rows[0].verdict is Verdict.FITS
