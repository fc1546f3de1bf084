"""Fits, tight, does not fit, cannot say: by what a verdict rests on, and what each answer says of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.safetensors_files import file

import archcalc
from archcalc.analyze.fit import need
from archcalc.analyze.fit.answer import fitted
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.verdict import Room, Verdict
from archcalc.run.options import Options

if TYPE_CHECKING:
    from conftest import Run, Write

GIB = 2**30
FITS, TIGHT, CANNOT_SAY, NOT = Verdict.FITS, Verdict.TIGHT, Verdict.CANNOT_SAY, Verdict.NOT
PART = "name: Part\nscope: {part: text model, of: Whole, left_out: [{part: vision tower, parameters: 400000000}]}\n"
SMALL = "vocab: 1000\nd_model: 64\nheads: 4\nffn: 256\ndecoder: 2\nposition: {kind: rope, length: 512}\n"
BANDS = {"infer": 5, "train": 3}  # percent


@pytest.mark.parametrize(
    ("room", "verdicts"),
    [
        (Room(1000, 5), {1000 * 100 // 105: FITS, 953: TIGHT, 1000: TIGHT, 1000 + 50: TIGHT, 1051: NOT}),
        (Room(1000, 1), {990: FITS, 991: TIGHT, 1010: TIGHT, 1011: NOT}),
        (Room(1000, None), {1000 - 200: FITS, 801: CANNOT_SAY, 1199: CANNOT_SAY, 1000 + 200: NOT}),
        (Room(1000, 5, "a tower"), {1: CANNOT_SAY, 952: CANNOT_SAY, 1000: CANNOT_SAY, 1001: NOT}),
        (Room(1000, None, "a tower"), {1: CANNOT_SAY, 1000: CANNOT_SAY, 1001: NOT}),
    ],
)
def test_what_a_verdict_rests_on(room: Room, verdicts: dict[int, Verdict]) -> None:
    """The band on either side; without one 20 %; and of a part of a model never a yes."""
    assert {needed: room.verdict(needed) for needed in verdicts} == verdicts


@pytest.mark.parametrize(
    ("percent", "needed", "cached", "verdict"),
    [
        (5, 1300, 0, NOT),
        (5, 1300, 300, TIGHT),  # what is allocated is as much as there is
        (5, 1300, 250, TIGHT),  # and more by no more than the band
        (5, 1300, 249, NOT),
        (5, 950, 500, FITS),
        (None, 1300, 300, CANNOT_SAY),
        (None, 1300, 99, NOT),
    ],
)
def test_blocks_that_the_allocator_keeps_decide_nothing(
    percent: int | None, needed: int, cached: int, verdict: Verdict
) -> None:
    """PyTorch frees them before it gives up."""
    assert Room(1000, percent).verdict(needed, cached) is verdict


def test_the_allocator_tries_again() -> None:
    """A step whose segments are more than the device, and whose tensors are not."""
    report = archcalc.load("gpt2").memory(mode="train", batch=4)
    between = (report.total_bytes + report.required_bytes) // 2
    (row,) = asked(between, mode="train", batch="4").rows
    assert row.verdict is TIGHT
    assert "PyTorch frees" in row.why and "tries again" in row.why


def test_what_is_safe_and_one_byte_more() -> None:
    """By the definition of the band: what is needed may be more by all of it."""
    for capacity in (999, 24 * GIB, 79 * GIB + 1):
        for percent in (1, 3, 5, 30):
            safe = Room(capacity, percent).safe
            assert safe * (100 + percent) <= 100 * capacity < (safe + 1) * (100 + percent)
        assert Room(capacity, None).safe * 100 <= 80 * capacity
        assert Room(capacity, None).limit * 100 < 120 * capacity <= (Room(capacity, None).limit + 1) * 100


def asked(size: int, **options: str) -> FitReport:
    """The verdict alone: nothing is solved for."""
    return fitted(archcalc.load("gpt2"), [f"{size} bytes"], Options.of("fit", options), verdicts_alone=True)


@pytest.mark.parametrize(("mode", "percent"), BANDS.items())
def test_the_band_is_that_of_the_run(mode: str, percent: int) -> None:
    report = archcalc.load("gpt2").memory(mode=mode)
    required = report.required_bytes
    least = report.total_bytes  # without blocks that PyTorch's allocator keeps, which never make that a step fails
    sure, most = -(-required * (100 + percent) // 100), least * 100 // (100 + percent)
    found = [asked(size, mode=mode).rows[0].verdict for size in (sure, sure - 100, required, most + 100, most - 100)]
    assert found == [FITS, TIGHT, TIGHT, TIGHT, NOT]
    assert asked(sure, mode=mode).record()["band"] == percent / 100


def test_without_a_band_the_distance_decides(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Where such runs were compared with no measurement."""
    monkeypatch.setattr(need, "band", lambda run, parts: None)
    required = archcalc.load("gpt2").memory().required_bytes
    sizes = (required * 100 // 80 + 2, required * 100 // 81, required * 100 // 119, required * 100 // 120 - 1)
    rows = [asked(size).rows[0] for size in sizes]
    assert [row.verdict for row in rows] == [FITS, CANNOT_SAY, CANNOT_SAY, NOT]
    assert all("not compared with measurements" in row.why for row in rows)
    assert asked(sizes[0]).record()["band"] is None
    answer = run("fit", "gpt2", "--gpu", f"{sizes[1]} bytes", "--check", columns=200)
    assert answer.code == 3 and "cannot say for" in answer.out and "less than 20 % of the memory" in answer.out


def test_nothing_fits_by_28_mib() -> None:
    """Of 16 GiB that is far within the error, and not said to fit."""
    required = archcalc.load("llama-3-8b").memory().required_bytes
    row = archcalc.fit(archcalc.load("llama-3-8b"), gpus=[f"{required + 28 * 2**20} bytes"]).rows[0]
    assert (row.verdict, row.left_bytes, row.fits) == (TIGHT, 28 * 2**20, True)
    assert row.max_batch == 0 and row.remedy


def test_the_verdict_is_said_first(run: Run) -> None:
    """And again as a word beside each device, for programs too."""
    sizes = {"80GiB": "fits 80GiB with", "16GiB": "tight on 16GiB:", "15.5GiB": "tight on 15.5GiB:"}
    sizes["8GiB"] = "does not fit 8GiB:"
    for size, words in sizes.items():
        assert f"\n{words} " in run("fit", "llama-3-8b", "--gpu", size).out
    gpus = [word for size in sizes for word in ("--gpu", size)]
    rows = run("fit", "llama-3-8b", *gpus, "--format", "json").json["rows"]
    assert [row["verdict"] for row in rows] == ["fits", "tight", "tight", "does not fit"]
    assert [row["fits"] for row in rows] == [True, True, True, False]
    assert all(row["left_bytes"] == row["capacity_bytes"] - row["required_bytes"] for row in rows)
    assert [row["why"].partition(": ")[2].split(", ")[-1] for row in rows] == [
        f"{than} than the error of ± {BANDS['infer']} %" for than in ("more", "less", "less", "more")
    ]


@pytest.mark.parametrize(
    ("sizes", "code"), [(["80GiB"], 0), (["16GiB"], 1), (["15.5GiB"], 1), (["8GiB"], 1), (["80GiB", "8GiB"], 1)]
)
def test_check_asks_for_certainty(run: Run, sizes: list[str], code: int) -> None:
    """Tight is no yes; without --check the answer is printed and that is all."""
    gpus = [word for size in sizes for word in ("--gpu", size)]
    assert run("fit", "llama-3-8b", *gpus, "--check").code == code
    assert run("fit", "llama-3-8b", *gpus).code == 0


def test_a_part_of_a_model_never_fits(run: Run, write: Write) -> None:
    """However much is left; what is left out is named with its size. More than the device, it does not fit."""
    model = write(PART + SMALL, "part.yaml")
    answer = run("fit", model, "--gpu", "h100", "--check", columns=200)
    assert answer.code == 3
    assert "cannot say for h100: " in answer.out and "not counted: vision tower (400.0 M)" in answer.out
    (row,) = run("fit", model, "--gpu", "h100", "--format", "json").json["rows"]
    assert (row["verdict"], row["fits"]) == ("cannot say", None) and "vision tower (400.0 M)" in row["why"]
    assert run("fit", model, "--gpu", "0.1GiB", "--check").code == 1
    whole = write(SMALL, "whole.yaml")
    assert run("fit", whole, "--gpu", "h100", "--check").code == 0


def test_what_makes_a_part_fit_does_not_claim_the_whole(run: Run, write: Write) -> None:
    answer = run("fit", write(PART + SMALL, "part.yaml"), "--batch", "64", "--gpu", "0.6GiB", columns=140)
    assert "to make the counted part fit" in answer.out and "to make it fit" not in answer.out


def test_weights_alone_never_fit(run: Run, write: Write) -> None:
    """Of a file of weights it is not known what is computed."""
    answer = run(
        "fit", write(file({"layers.0.weight": ("F32", [64, 64])}), "model.safetensors"), "--gpu", "t4", "--check"
    )
    assert answer.code == 3 and "not counted: activations and KV cache" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("gpus", "code"),
    [(["h100"], 3), (["h100", "0.1GiB"], 1), (["0.1GiB", "h100"], 1)],
)
def test_a_certain_no_comes_before_what_nobody_can_say(run: Run, write: Write, gpus: list[str], code: int) -> None:
    model = write(PART + SMALL, "part.yaml")
    asked = [word for gpu in gpus for word in ("--gpu", gpu)]
    assert run("fit", model, *asked, "--check").code == code


def test_tables_have_the_verdict_too(run: Run, write: Write) -> None:
    """A cell of a part of a model has a question mark, and so has its row among devices."""
    model = write(PART + SMALL, "part.yaml")
    table = run("fit", model, "--table", "weights,context", "--gpu", "24GiB")
    cells = table.out.partition("\n\n")[2].partition("·")[0]
    assert "✓" not in cells and "?" in cells
    lines = run("fit", model, "--gpu", "h100", "--gpu", "t4").out.splitlines()
    assert any(line.startswith("fits 0 of 2 devices; cannot say for h100, t4") for line in lines)
    assert all(line.split()[1] == "?" for line in lines if line.startswith(("h100 ", "t4 ")))


def test_an_offload_was_measured_by_nobody() -> None:
    """So that its verdict needs 20 %, and the same answer without it the band."""
    options: dict[str, Any] = {"mode": "train", "offload": "optimizer"}
    memory = archcalc.load("gpt2").memory(**options)
    needed = {FITS: memory.required_bytes, CANNOT_SAY: memory.required_bytes, NOT: memory.total_bytes}
    for percent, verdict in ((79, FITS), (81, CANNOT_SAY), (119, CANNOT_SAY), (121, NOT)):
        report = asked(needed[verdict] * 100 // percent, **options)
        assert (report.rows[0].verdict, report.band) == (verdict, None)
    assert json.loads(json.dumps(report.record()))["rows"][0]["host_bytes"] == report.memory.host_bytes > 0


def test_help_has_the_verdicts(run: Run) -> None:
    told = " ".join(run("fit", "--help-all", columns=140).out.split())
    assert all(words in told for words in ("fits, tight", "does not fit", "cannot say", "--check", "3: archcalc"))


MIXED = """
scope:
  part: text model
  left_out: [{part: vision tower, needed: images}, {part: multi-token prediction, needed: drafts}]
"""


@pytest.mark.parametrize(
    ("options", "missing"),
    [  # which parts an engine loads is in its file; plain PyTorch is taken to run all of a model
        (["--engine", "llama.cpp"], ""),
        (["--engine", "vllm"], "vision tower"),
        (["--engine", "plain"], "vision tower and multi-token prediction"),
        (["--mode", "train"], "vision tower and multi-token prediction"),
    ],
)
def test_a_part_that_an_engine_does_not_load_is_not_missing(
    run: Run, write: Write, options: list[str], missing: str
) -> None:
    answer = run("fit", write(SMALL + MIXED, "mixed.yaml"), "--gpu", "80GB", *options, "--format", "json").json
    (row,) = answer["rows"]
    assert row["verdict"] == ("cannot say" if missing else "fits")
    assert (f"not counted: {missing}" in row["why"]) is bool(missing)
    notes = [note["text"] for note in answer["assumptions"] if "not loaded by" in note["text"]]
    assert len(notes) == 2 - (bool(missing) + ("and" in missing))


@pytest.mark.parametrize(("share", "verdict"), [(0.9, FITS), (0.98, TIGHT)])
def test_what_an_engine_captures_behind_its_pool_needs_room_too(share: float, verdict: Verdict) -> None:
    """vLLM 0.12 has no room for CUDA graphs in its share; of 23.5 GiB the last 2 % are less than its graphs take."""
    asked: dict[str, Any] = {"engine": "vllm@0.12", "gpu_memory_utilization": share}
    (row,) = archcalc.fit(archcalc.load("llama-3.1-8b"), ["rtx-4090"], **asked).rows
    assert row.verdict is verdict
    assert ("CUDA graphs take about" in row.why) is (verdict is TIGHT)


def test_without_graphs_there_is_room() -> None:
    asked: dict[str, Any] = {"engine": "vllm@0.12", "gpu_memory_utilization": 0.98, "enforce_eager": True}
    (row,) = archcalc.fit(archcalc.load("llama-3.1-8b"), ["rtx-4090"], **asked).rows
    assert row.verdict is FITS
