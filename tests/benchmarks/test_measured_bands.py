"""Bands of classes of runs: tried on sources that were left out, and in the form that archcalc reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from measured_bands import files
from measured_claims import claims
from measured_classes import Measured, band, classes
from measured_rows import Answer, Row

from archcalc.run.accuracy import Measured as Entry

TEN: list[Measured] = [(source, percent / 100) for source in "ab" for percent in (1, 2, 3, 4, 5)]


def test_a_band_holds_for_four_of_five_runs() -> None:
    """Both sources alike: 4 % is what four of five runs of each are within."""
    assert band(TEN) == 0.04


def test_sources_weigh_alike_however_many_runs_they_have() -> None:
    """One of two sources is ten times as far off, with a quarter of the runs: three of its five have to be within."""
    apart = [*(("a", error) for _, error in 3 * TEN[:5]), *(("b", 10 * error) for _, error in TEN[5:])]
    assert band(apart) == 0.3


@pytest.mark.parametrize("few", [TEN[:4] + TEN[5:8], [("a", error) for _, error in TEN]])
def test_seven_runs_or_one_source_have_no_band(few: list[Measured]) -> None:
    assert band(few) is None


def row(number: int, error: float, **more: Any) -> Row:
    """A peak of 100 GiB of torchtitan on eight H100."""
    case = {
        "id": str(number),
        "kind": "train_peak_memory",
        "model": "one",
        "gpu": "H100",
        "arch": {},
        "flags": {},
        "measured": {},
    }
    case |= {"source": f"somebody/some#{number % 2}", "parallelism": {"fsdp": 8}, "trust": "A"}
    answer = Answer("archcalc memory one", 100.0 * (1 + error), 0.05, "torchtitan")
    return Row(
        case,
        "training peak, reserved",
        **{"quantity": "reserved", "measured": 100.0, "typed": answer, "today": answer, **more},
    )


ROWS = [row(number, error) for number, (_, error) in enumerate(TEN)]


def test_the_file_has_the_form_that_archcalc_reads() -> None:
    written = files(ROWS)
    reserved, every = yaml.safe_load(written["training.yaml"])["classes"]
    assert Entry(**every) == Entry("torchtitan", "any", "fsdp", every["band"], runs=10, sources=2)
    assert reserved == every | {"figure": "reserved"}
    assert yaml.safe_load(written["inference.yaml"])["classes"] is None


def test_parts_that_an_engine_prints_have_bands_of_their_own() -> None:
    """Of ten compute buffers four of five are within 4 %, of either source."""
    log = {"kind": "llamacpp_load_log", "parallelism": None}
    answer = {
        number: Answer("archcalc memory one", 100.0 * (1 + error), None, "llama.cpp")
        for number, (_, error) in enumerate(TEN)
    }
    rows = [row(number, 0, quantity="compute", typed=said) for number, said in answer.items()]
    written = files([replace(one, case={**one.case, **log}) for one in rows])
    assert yaml.safe_load(written["inference.yaml"])["parts"] == [
        {"runner": "llama.cpp", "part": "compute", "band": 4, "runs": 10, "sources": 2}
    ]


def test_classes_say_how_many_answers_are_within_their_band() -> None:
    (found,) = classes(ROWS)
    assert found.of == ("train", "torchtitan", "any", "fsdp", "as computed")
    assert sum(found.within) == 10  # none is further off than 5 %
    texts = [text for text, _ in claims([*ROWS, row(10, 0.2)])]
    assert texts[0] == "answers with a band: 100 % of 11 (at least 70 %)"
    assert "cases within the band that is stated: 91 % of 11" in texts


@pytest.mark.parametrize(
    ("measured", "said", "wrong"),
    [("OOM", "fits", True), ("OOM", "tight", False), ("OOM", "does not fit", False), ("runs", "fits", False)],
)
def test_a_run_that_is_said_to_fit_and_did_not_is_a_false_fit(measured: str, said: str, wrong: bool) -> None:
    asked = row(0, 0, quantity="verdict", measured=measured, typed=Answer("archcalc fit one", said, verdict=said))
    assert [met for text, met in claims([asked]) if text.startswith("false fits")] == [not wrong]
