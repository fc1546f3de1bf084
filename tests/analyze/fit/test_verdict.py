"""Fits, tight, does not fit: by the error of measured runs, and what each answer says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import archcalc
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.verdict import Room, Verdict
from archcalc.run.accuracy import band, inference_band

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30


def test_what_is_left_must_be_more_than_the_error() -> None:
    """With an error of 5 %, 100 may be 105."""
    room = Room(105, 5)
    assert room.safe == 100
    verdicts = {100: Verdict.FITS, 101: Verdict.TIGHT, 105: Verdict.TIGHT, 106: Verdict.NOT}
    assert {needed: room.verdict(needed) for needed in verdicts} == verdicts


def asked(size: int, **options: str) -> FitReport:
    return archcalc.fit(archcalc.load("gpt2"), gpus=[f"{size} bytes"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("mode", "percent"), [("infer", inference_band().percent), ("train", band("any").percent)])
def test_the_band_is_that_of_the_mode(mode: str, percent: int) -> None:
    """GPT-2 runs as transformers computes it, of which no runs were measured: the band of all codes."""
    required = archcalc.load("gpt2").memory(mode=mode).required_bytes
    sure = -(-required * (100 + percent) // 100)
    found = {size: asked(size, mode=mode).rows[0].verdict for size in (sure, sure - 100, required, required - 1)}
    assert list(found.values()) == [Verdict.FITS, Verdict.TIGHT, Verdict.TIGHT, Verdict.NOT]
    assert asked(sure, mode=mode).record()["band"] == percent / 100


def test_nothing_fits_by_28_mib(run: Run) -> None:
    """Of 16 GiB that is far within the error, and not said to fit."""
    required = archcalc.load("llama-3-8b").memory().required_bytes
    row = archcalc.fit(archcalc.load("llama-3-8b"), gpus=[f"{required + 28 * 2**20} bytes"]).rows[0]
    assert (row.verdict, row.left_bytes, row.fits) == (Verdict.TIGHT, 28 * 2**20, True)
    assert row.max_batch == 0 and row.remedy


def test_the_verdict_is_said_first(run: Run) -> None:
    """And again as a word beside each device, for programs too."""
    for size, words in (("80GiB", "fits"), ("16GiB", "tight on"), ("8GiB", "does not fit")):
        answer = run("fit", "llama-3-8b", "--gpu", size)
        assert answer.out.splitlines()[1].startswith(f"{words} {size}:")
    rows = run("fit", "llama-3-8b", "--gpu", "80GiB", "--gpu", "16GiB", "--gpu", "8GiB", "--format", "json").json[
        "rows"
    ]
    assert [row["verdict"] for row in rows] == ["fits", "tight", "does not fit"]
    assert [row["fits"] for row in rows] == [True, True, False]
    assert all(row["left_bytes"] == row["capacity_bytes"] - row["required_bytes"] for row in rows)


@pytest.mark.parametrize(("sizes", "code"), [(["80GiB"], 0), (["16GiB"], 1), (["8GiB"], 1), (["80GiB", "8GiB"], 1)])
def test_check_asks_for_certainty(run: Run, sizes: list[str], code: int) -> None:
    """Tight is no yes; without --check the answer is printed and that is all."""
    gpus = [word for size in sizes for word in ("--gpu", size)]
    assert run("fit", "llama-3-8b", *gpus, "--check").code == code
    assert run("fit", "llama-3-8b", *gpus).code == 0


def test_help_has_the_verdicts(run: Run) -> None:
    told = " ".join(run("fit", "--help", columns=140).out.split())
    assert "fits, tight" in told and "does not fit" in told and "--check" in told
