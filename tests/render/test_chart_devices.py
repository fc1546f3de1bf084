"""Devices as bars: what is needed against what there is, to scale, with the verdict in words."""

from __future__ import annotations

import pytest
from support.drawn import element, marked, words

import archcalc
from archcalc.analyze.fit.answer import fit
from archcalc.analyze.fit.report import FitReport
from archcalc.render.chart.devices import devices
from archcalc.spec.units import binary_bytes

GIB = 2**30


def report(*gpus: str, **options: str) -> FitReport:
    return fit(archcalc.load("llama-3-8b"), list(gpus), **options)  # type: ignore[arg-type]


def test_bars_are_proportional_to_bytes_and_their_frame_to_the_memory() -> None:
    """Of every device alike: all frames are equally wide, so that 24 GB are read as easily as 80."""
    asked = report("rtx-4090", "h100")
    drawn = marked(devices(asked), "data-part")
    shares = [size / row.capacity_bytes for row in asked.rows for size in row.segments.values() if size]
    wide = [float(each.attrib["width"]) for each in drawn]
    assert len(wide) == len(shares)
    scale = wide[0] / shares[0]
    assert wide == pytest.approx([share * scale for share in shares], abs=0.16)
    frames = [each for each in element(devices(asked)).iter("rect") if "f-panel" in each.get("class", "").split()]
    assert len({each.attrib["width"] for each in frames if float(each.attrib["width"]) > 50}) == 1


def test_a_card_is_told_as_it_is_sold() -> None:
    assert {"8GB", "80GB", "24 GiB"} & set(words(devices(report("rtx-4060", "h100")))) == {"8GB", "80GB"}


def test_what_is_far_too_large_stays_within_the_picture() -> None:
    """Bars end at one and a half times the memory; the verdict says how much is missing."""
    found = element(devices(fit(archcalc.load("llama-3.1-70b"), ["rtx-4060", "h100"])))
    ends = [float(each.attrib["x"]) + float(each.attrib["width"]) for each in found.findall(".//rect")]
    assert max(ends) <= 860.1


def test_the_verdict_is_a_word_and_a_mark() -> None:
    asked = report("rtx-4060", "rtx-4090", "h100")
    said = words(devices(asked))
    none, *_, last = asked.rows
    assert f"✗ does not fit · {binary_bytes(-none.left_bytes)} too little" in said
    assert f"✓ fits · {binary_bytes(last.left_bytes)} left" in said


def test_the_error_of_measured_runs_is_drawn_and_named() -> None:
    asked = report("h100")
    assert asked.band and f"± {asked.band.percent} %, the error of measured runs" in words(devices(asked))


@pytest.mark.parametrize("wide", [358, 860])
def test_every_bar_is_within_the_picture(wide: float) -> None:
    for each in element(devices(report("rtx-4060", "h100"), wide)).findall(".//rect"):
        assert float(each.attrib["x"]) + float(each.attrib["width"]) <= wide + 0.1


def test_weights_are_drawn_to_the_scale_of_the_memory() -> None:
    """8,030,261,248 parameters in bf16 against the frame, which is the memory of the device."""
    (row,), drawn = report("h100").rows, devices(report("h100"))
    frame = next(each for each in element(drawn).iter() if "f-panel" in each.get("class", "").split())
    weights = next(each for each in marked(drawn, "data-part") if each.attrib["data-part"] == "weights")
    share = 2 * 8_030_261_248 / row.capacity_bytes
    assert float(weights.attrib["width"]) == pytest.approx(share * float(frame.attrib["width"]), abs=0.11)
