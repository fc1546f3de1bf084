"""Engines that print each part of their memory: an answer has the band of its parts together."""

from __future__ import annotations

import pytest

from archcalc import load
from archcalc.analyze.memory.deployment import deploy
from archcalc.run import accuracy
from archcalc.run.accuracy import Band, band
from archcalc.run.options import Options

ASKED = {"engine": "llama.cpp", "weights": "q8_0"}
KNOWN = {
    "classes": [],
    "parts": [
        {"runner": "llama.cpp", "part": "weights", "band": 2, "runs": 40, "sources": 9},
        {"runner": "llama.cpp", "part": "cache", "band": 0, "runs": 90, "sources": 9},
        {"runner": "llama.cpp", "part": "compute", "band": 25, "runs": 30, "sources": 9},
    ],
}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "shipped", lambda *_: KNOWN)


def stated(**sizes: int) -> Band | None:
    """Of llama.cpp, with so many bytes of each part."""
    return band(deploy(load("gpt2"), Options.of("memory", ASKED)).run, lambda: {"overhead": 0, **sizes})


def test_each_part_counts_by_its_size() -> None:
    found = stated(weights=800, kv_cache=100, activations=100)
    assert found and found.percent == 5  # 16 + 0 + 25 of 1,000, rounded up
    assert found.runs == 160


def test_the_overhead_may_be_twice_as_large_or_nothing() -> None:
    found = stated(weights=900, overhead=100)
    assert found and found.percent == 12  # 18 + 100 of 1,000, rounded up


@pytest.mark.parametrize("part", ["draft", "adapters"])
def test_a_part_that_nobody_printed_leaves_no_band(part: str) -> None:
    assert stated(weights=900, **{part: 1}) is None


def test_it_is_said_with_the_parts_that_were_compared() -> None:
    said = [note.text for note in load("gpt2").memory(engine="llama.cpp", weights="q8_0").assumptions]
    assert any("160 figures: llama.cpp, whose log prints each part: weights ± 2 %" in text for text in said)


def test_other_engines_have_none() -> None:
    assert load("gpt2").memory(engine="ollama", weights="q8_0").band is None


def test_nor_have_layers_in_host_ram() -> None:
    assert load("gpt2").memory(engine="llama.cpp", weights="q8_0", ngl=3).band is None
