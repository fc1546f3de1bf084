"""Memory over a step: the areas are the bytes of the simulated step, and the peak is the report's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from support.drawn import corners, marked, words

import archcalc
from archcalc.analyze.memory.parts import PARTS
from archcalc.analyze.memory.report import MemoryReport
from archcalc.render.chart.timeline import HIGH, TOP, stages, timeline
from archcalc.simulate.levels import Snapshot
from archcalc.spec.units import binary_bytes

FAMILIES = ["gpt2", "textbook", "sentiment-lstm", "gemma-3-1b", "resnet-18", "mamba-130m", "vae-mnist", "word2vec-cbow"]


def report(name: str = "gpt2", mode: str = "train") -> MemoryReport:
    return archcalc.load(name).memory(mode=mode)


def of_blocks(found: Sequence[Snapshot], phase: str) -> list[Snapshot]:
    return [one for one in found if (one.phase, one.place.path) == (phase, "decoder.blocks")]


@pytest.mark.parametrize("mode", ["train", "infer"])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_instant_of_the_report_is_in_the_picture_to_the_byte(name: str, mode: str) -> None:
    asked = report(name, mode)
    drawn = list(stages(asked))
    assert all(instant in drawn for instant in asked.instants)
    assert max(instant.bytes for instant in drawn) == asked.peak.bytes
    assert all(sum(instant.parts.values()) == instant.bytes for instant in drawn)


def test_each_of_twelve_blocks_is_a_step_of_the_rise() -> None:
    asked = report()
    saved = [stage.parts["activations"] for stage in of_blocks(stages(asked), "forward")]
    assert len(saved) == 12
    rises = [later - sooner for sooner, later in pairwise(saved)]
    assert rises[:-1] == [rises[0]] * 10  # the last block has not yet let go of what it only passes on


def test_of_very_many_copies_the_first_and_the_last_are_drawn_to_the_byte() -> None:
    """Of 126 blocks 48 are drawn: no more are needed for the same peak."""
    asked = report("llama-3.1-405b")
    drawn = of_blocks(stages(asked), "forward")
    assert len(drawn) < 126
    peak = next(each for each in asked.instants if (each.phase, each.place.path) == ("forward", "decoder.blocks"))
    assert max(stage.bytes for stage in drawn) == peak.bytes


@pytest.mark.parametrize("name", ["llama-3-8b", "gpt2", "sentiment-lstm"])
def test_every_area_has_its_key_also_where_the_peak_has_none_of_it(name: str) -> None:
    """Gradients come after the peak of a step whose optimizer states are there before it."""
    drawing = timeline(report(name))
    keys = [key.attrib["data-key"] for key in marked(drawing, "data-key")]
    for area in marked(drawing, "data-part"):
        part = PARTS[area.attrib["data-part"]]
        assert any(key.startswith(f"{part} ") for key in keys), part


def test_heights_of_areas_are_proportional_to_bytes() -> None:
    asked = report()
    areas = {area.attrib["data-part"]: area for area in marked(timeline(asked), "data-part")}
    most = max(asked.required_bytes, asked.peak.bytes)
    highest = min(y for _, y in corners(areas["weights"]))  # which stand on the ground
    assert TOP + HIGH - highest == pytest.approx(asked.peak.parts["weights"] / most * HIGH, abs=0.06)
    topmost = min(y for area in areas.values() for _, y in corners(area))
    assert TOP + HIGH - topmost == pytest.approx(asked.peak.bytes / most * HIGH, abs=0.06)


def test_the_peak_is_named_with_its_bytes() -> None:
    asked = report()
    assert f"peak: backward, loss — {binary_bytes(asked.peak.bytes)}" in words(timeline(asked))
    assert f"needed with what the allocator reserves: {binary_bytes(asked.required_bytes)}" in words(timeline(asked))
    assert {"forward", "loss", "backward", "step"} <= set(words(timeline(report())))


def test_inference_has_one_phase_and_its_cache() -> None:
    said = words(timeline(report("llama-3-8b", "infer")))
    assert "forward" in said
    assert "backward" not in said
    assert "KV cache 256.0 MiB" in said  # 32 layers × 2 × 8 heads × 128 × 2048 tokens × 2 bytes


@pytest.mark.parametrize("wide", [358, 860])
def test_it_stays_within_its_width(wide: float) -> None:
    for area in marked(timeline(report(), wide), "data-part"):
        assert all(0 <= x <= wide for x, _ in corners(area))
