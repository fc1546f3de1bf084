"""Will it fit: what is promised of every answer, and answers that can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil
from typing import Any, cast

import pytest

import archcalc
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.rows import Row
from archcalc.analyze.fit.spread import NUMBERS
from archcalc.analyze.fit.verdict import Verdict
from archcalc.core.errors import InputError
from archcalc.run.device import device, usual

GIB = 2**30

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("gpt2", "4GiB", {}),
    ("gpt2", "24GiB", {"mode": "train", "batch": 4, "seq": 256}),
    ("gpt2", "16GiB", {"mode": "train", "attention": "eager", "recompute": "full"}),
    ("llama-3-8b", "rtx-4090", {"seq": 4096, "engine": "plain"}),
    ("llama-3-8b", "rtx-4090", {"mode": "train", "lora": 16, "weights": "nf4", "batch": 2}),
    ("llama-3-8b", "h100", {"mode": "train", "dp": 8, "zero": 3}),
    ("llama-3-8b", "t4", {"tp": 4, "precision": "fp16", "engine": "plain"}),
    ("t5-small", "8GiB", {"mode": "train", "batch": 8}),
    ("bert-base", "t4", {"mode": "train"}),
    ("sentiment-lstm", "2GiB", {}),
]


@cache
def answer(index: int) -> FitReport:
    """The answer to one of the cases, worked out once."""
    name, gpu, options = CASES[index]
    return archcalc.fit(archcalc.load(name), gpus=[gpu], **options)


def only(report: FitReport) -> Row:
    (row,) = report.rows
    return row


def needed(name: str, options: dict[str, Any], like: FitReport | None = None, **sizes: int | None) -> int:
    """What `memory` says, asked anew; like another answer, the tensors with as large a share for the allocator."""
    report = archcalc.load(name).memory(**{**options, **sizes})
    if not like:
        return report.required_bytes
    return ceil(report.total_bytes * Fraction(like.memory.required_bytes, like.memory.total_bytes))


def total(name: str, options: dict[str, Any], **sizes: int | None) -> int:
    """The bytes of tensors and overhead."""
    return archcalc.load(name).memory(**{**options, **sizes}).total_bytes


@pytest.mark.wide(5)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_largest_batch_fits_and_one_more_does_not(case: int) -> None:
    """By what `memory` says of both, with the error band to spare."""
    (name, gpu, asked), report = CASES[case], answer(case)
    options, row = {**asked, "gpu": gpu}, only(report)
    assert row.max_batch
    assert needed(name, options, report, batch=row.max_batch) <= row.room.safe
    assert needed(name, options, report, batch=row.max_batch + 1) > row.room.safe


@pytest.mark.wide(5)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_longest_context_fits_and_one_more_does_not(case: int) -> None:
    """Unless the model's positions end first, which is then said."""
    (name, gpu, asked), report = CASES[case], answer(case)
    options, row = {**asked, "gpu": gpu}, only(report)
    assert row.max_seq and row.limited_by in ("memory", "positions")
    assert needed(name, options, report, seq=row.max_seq) <= row.room.safe
    if row.limited_by == "memory":
        assert needed(name, options, report, seq=row.max_seq + 1) > row.room.safe
    else:
        assert row.max_seq == min(limit.length or 0 for limit in archcalc.load(name).resolved.lengths.values())


@pytest.mark.wide(5)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_is_needed_is_what_memory_says(case: int) -> None:
    """And the verdict follows from that and from what the device has."""
    (name, gpu, options), row = CASES[case], only(answer(case))
    assert row.required_bytes == archcalc.load(name).memory(**options, gpu=gpu).required_bytes
    assert row.capacity_bytes == device(gpu)[1].capacity
    assert row.verdict is row.room.verdict(row.required_bytes)
    assert (row.verdict is Verdict.FITS) is (row.required_bytes <= row.room.safe)


@pytest.mark.parametrize("option", ["batch", "seq"])
@pytest.mark.parametrize(("name", "options"), [("gpt2", {"mode": "train"}), ("gpt2", {}), ("t5-small", {})])
def test_more_of_anything_never_needs_less(name: str, options: dict[str, Any], option: str) -> None:
    sizes = [total(name, options, **{option: size}) for size in (1, 2, 3, 17, 500)]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_a_deeper_model_never_needs_less(mode: str) -> None:
    blocks = [archcalc.load("gpt2", set=[f"decoder.blocks={number}"]) for number in (1, 2, 12)]
    depths = [model.memory(mode=mode).total_bytes for model in blocks]
    assert depths == sorted(depths)


def test_a_larger_device_never_holds_less() -> None:
    """Down the spread, which is sorted by what the devices hold."""
    rows = archcalc.fit(archcalc.load("llama-3-8b"), seq=4096).rows
    assert {row.gpu for row in rows} == set(usual())
    for value in ("capacity_bytes", "max_batch", "max_seq"):
        values = [getattr(row, value) for row in rows]
        assert values == sorted(values), value
    counts = [row.gpus_needed or 10**9 for row in rows]
    assert counts == sorted(counts, reverse=True)


def test_the_cache_of_one_more_sequence_can_be_worked_out() -> None:
    """Llama 3 8B keeps 2 × 32 × 8 × 128 values of 2 bytes a token; nothing else grows but what a prompt computes."""
    options: dict[str, Any] = {"seq": 2048, "prefill": 1, "overhead": 0}
    one, two = (needed("llama-3-8b", options, batch=batch) for batch in (1000, 1001))
    cache = 2048 * 2 * 32 * 8 * 128 * 2
    assert cache < two - one < 1.01 * cache
    row = only(archcalc.fit(archcalc.load("llama-3-8b"), gpus="79GiB", **options))
    room = row.room.safe - one + 1000 * (two - one)
    assert row.max_batch == room // (two - one)


def test_a_position_table_ends_before_memory_does() -> None:
    """GPT-2 has 1,024 positions, however large the device."""
    row = only(archcalc.fit(archcalc.load("gpt2"), gpus=["h100"]))
    assert (row.max_seq, row.limited_by) == (1024, "positions")


def test_rotary_positions_may_be_exceeded() -> None:
    """Llama 3 was made for 8,192, and no table ends there: asked for more, it is memory that ends the context."""
    model = archcalc.load("llama-3-8b")
    assert only(archcalc.fit(model, gpus=["h100"], seq=8192)).limited_by == "positions"
    report = archcalc.fit(model, gpus=["h100"], seq=16_384)
    assert only(report).limited_by == "memory" and (only(report).max_seq or 0) > 16_384
    assert any("longer than the 8,192 that the model was trained for" in str(note) for note in report.assumptions)


def test_a_shortest_length_is_respected() -> None:
    """A recursive autoencoder merges two at the least."""
    row = only(archcalc.fit(archcalc.load("recursive-autoencoder"), gpus=["1GiB"]))
    assert row.max_seq and needed("recursive-autoencoder", {}, seq=row.max_seq + 1) > row.room.safe


def test_data_parallel_inference_is_split_further() -> None:
    """Each group answers its own requests; the model itself is divided by tensor parallelism, two by two."""
    more = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["12GiB"], dp=2).remedies[-1]
    assert (more.change.option, more.change.price) == ("--tp 2", "4 devices instead of 2")


@pytest.mark.wide(1)
@pytest.mark.parametrize(
    ("gpu", "options", "plan"),
    [
        ("h100", {"tp": 4}, {}),
        ("h200", {"mode": "train", "dp": 8}, {"dp": 2, "zero": 3}),
        ("h100", {"mode": "train", "dp": 8, "zero": 3}, {"dp": 4, "zero": 3}),
        ("h100", {"mode": "train", "dp": 8, "tp": 2}, {"tp": 2}),
        ("h100", {"mode": "train", "tp": 2, "sp": True, "cp": 2}, {"tp": 2, "sp": True}),
    ],
)
def test_the_fewest_gpus_do_not_depend_on_how_many_are_asked_for(
    gpu: str, options: dict[str, Any], plan: dict[str, Any]
) -> None:
    """By what `memory` says of so many, and of half of them; layers stay divided where fewer are enough so."""
    row = only(archcalc.fit(archcalc.load("llama-3-8b"), gpus=[gpu], **options))
    fewest = plan.get("tp", 1) * plan.get("dp", 1)
    assert row.gpus_needed == fewest
    mode = {"mode": options.get("mode", "infer")}
    assert needed("llama-3-8b", {**mode, **plan}) <= row.room.safe
    fewer = {"dp": fewest // 2, "zero": 3} if fewest > 2 else {}
    assert fewest == 1 or needed("llama-3-8b", {**mode, **fewer}) > row.room.safe


def test_nothing_fits_is_zero() -> None:
    """Where the weights alone are too many there is no batch and no context."""
    row = only(archcalc.fit(archcalc.load("llama-3-8b"), gpus=["8GiB"]))
    assert (row.fits, row.max_batch, row.max_seq, row.limited_by) == (False, 0, 0, "memory")


def test_a_model_without_a_length_has_none() -> None:
    """An autoencoder reads no sequence, and an image's patches follow from the image."""
    for name in ("linear-autoencoder", "vit-b-16"):
        row = only(archcalc.fit(archcalc.load(name), gpus=["t4"]))
        assert (row.max_seq, row.limited_by) == (None, None)
        assert row.max_batch


@pytest.mark.wide
def test_lengths_that_were_given_stay() -> None:
    """Of an encoder-decoder, the other one grows; if both were given, the last."""
    model = archcalc.load("transformer-base")
    options: dict[str, Any] = {"mode": "train", "batch": 8}
    both = (
        archcalc.fit(model, gpus=["8GiB"], src_seq=128, **options),
        archcalc.fit(model, gpus=["8GiB"], src_seq=128, tgt_seq=64, **options),
    )
    for report in both:
        longest, safe = only(report).max_seq, only(report).room.safe
        assert longest
        assert needed("transformer-base", options, report, src_seq=128, tgt_seq=longest) <= safe
        assert needed("transformer-base", options, report, src_seq=128, tgt_seq=longest + 1) > safe


@pytest.mark.wide(1)
@pytest.mark.parametrize(("mode", "split"), [("infer", "tp"), ("train", "dp")])
def test_so_many_gpus_are_enough_and_fewer_are_not(mode: str, split: str) -> None:
    """Tensor parallelism for inference, ZeRO-3 for training; the number is one that machines have."""
    options: dict[str, Any] = {"mode": mode, "seq": 1024}
    gpu = "24GiB" if mode == "train" else "6GiB"
    report = archcalc.fit(archcalc.load("llama-3-8b"), gpus=[gpu], **options)
    row = only(report)
    assert row.gpus_needed and row.gpus_needed > 1
    fewer = NUMBERS[NUMBERS.index(row.gpus_needed) - 1]
    zero = {"zero": 3} if mode == "train" else {}
    assert needed("llama-3-8b", {**options, split: row.gpus_needed, **zero}) <= row.room.safe
    assert needed("llama-3-8b", {**options, split: fewer, **zero}) > row.room.safe


@pytest.mark.wide
def test_a_few_gpus_are_enough_where_thousands_are_not() -> None:
    """FSDP2 deals out rows: a layer's 64 experts, a row each, are padded to 4,096 there, and gathered so."""
    options: dict[str, Any] = {"mode": "train", "zero": 3}
    row = only(archcalc.fit(archcalc.load("deepseek-v2-lite"), gpus=["h100"], mode="train"))
    four, eight, most = (needed("deepseek-v2-lite", options, dp=number) for number in (4, 8, 4096))
    assert eight <= row.room.safe < min(four, most)
    assert row.gpus_needed == 8


@pytest.mark.wide
def test_no_number_of_gpus_is_enough_for_activations_alone() -> None:
    """ZeRO divides what belongs to parameters; every GPU still computes a batch of its own."""
    row = only(archcalc.fit(archcalc.load("gpt2"), gpus=["2GiB"], mode="train", batch=64))
    assert row.gpus_needed is None


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("llama-3-8b", {"mode": "train", "tp": 2, "sp": True, "cp": 2, "dp": 4, "zero": 3}),
        ("t5-small", {"src_seq": 128}),
    ],
)
def test_the_question_is_said_as_memory_says_it(name: str, options: dict[str, Any]) -> None:
    """How the model is spread too, in the title and for programs."""
    model = archcalc.load(name)
    report, memory = archcalc.fit(model, gpus=["h100"], **options), model.memory(gpu="h100", **options)
    assert report.title() == memory.title()
    assert all(f"{option} " in report.title() for option in options if option not in ("mode", "sp"))
    said, keys = memory.record(), {"gpus", "tp", "dp", "zero", "sp", "cp", "weights_format", "total_bytes"}
    assert {key: report.record()[key] for key in keys} == {key: said[key] for key in keys}


def test_an_unknown_device_and_an_unknown_option_are_told() -> None:
    """With the closest names."""
    model = archcalc.load("gpt2")
    with pytest.raises(InputError, match="no device is called h10"):
        archcalc.fit(model, gpus=["h10"])
    with pytest.raises(InputError, match="no option called optimiser"):
        archcalc.fit(model, gpus=["h100"], **cast(Any, {"optimiser": "adamw"}))
    with pytest.raises(InputError, match="1,024"):
        archcalc.fit(model, gpus=["h100"], seq=2048)
