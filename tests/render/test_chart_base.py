"""The pens of charts: places on axes, round ticks, and SVG whose texts are texts."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from archcalc.render.chart.drawing import Drawing, attributes, number
from archcalc.render.chart.scale import Linear, Log
from archcalc.render.inks import SERIES

GIB = 2**30


def test_a_linear_scale_keeps_proportions() -> None:
    scale = Linear(0, 80, 100, 900)
    assert [scale.place(value) for value in (0, 20, 80)] == [100, 300, 900]


def test_a_logarithmic_scale_keeps_ratios() -> None:
    scale = Log(1_000, 8_000, 0, 300, base=2)
    assert [round(scale.place(value)) for value in (1_000, 2_000, 4_000, 8_000)] == [0, 100, 200, 300]


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Linear(0, 100, 0, 1), [0, 20, 40, 60, 80, 100]),
        (Linear(0, 90 * GIB, 0, 1, unit=GIB), [0, 20 * GIB, 40 * GIB, 60 * GIB, 80 * GIB]),
        (Linear(3, 11, 0, 1), [4, 6, 8, 10]),
        (Log(1_024, 8_192, 0, 1, base=2), [1_024, 2_048, 4_096, 8_192]),
        (Log(1, 1_000, 0, 1), [1, 10, 100, 1_000]),
    ],
)
def test_ticks_are_round_and_within_the_scale(scale: Linear | Log, ticks: list[float]) -> None:
    assert scale.ticks() == ticks


def test_a_scale_of_one_value_has_a_place_for_it() -> None:
    assert Linear(7, 7, 10, 20).place(7) == Log(7, 7, 10, 20).place(7) == 10


def test_attributes_that_say_nothing_are_left_out() -> None:
    found = attributes(x=number(0), text_anchor=False, font_weight=600, stroke_dasharray="", rx=0)
    assert found == ' x="0" font-weight="600"'


def test_names_are_text_wherever_they_stand() -> None:
    hostile = '"><script>alert(1)</script>\x1b[31m'
    drawing = Drawing(100, 50, hostile, hostile)
    drawing.open(hint=hostile, marks={"data-name": hostile})
    drawing.text(hostile, 0, 0)
    drawing.close()
    for name in ("", "chart"):
        svg = drawing.svg(name)
        assert "<script" not in svg
        assert "\x1b" not in svg
        assert len(ElementTree.fromstring(svg).findall(".//{*}text")) == 1


def test_a_file_of_its_own_follows_the_readers_choice_of_dark() -> None:
    drawing = Drawing(100, 50, "a", "b")
    drawing.rectangle(0, 0, 10, 10, SERIES[0])
    assert f".f-blue{{fill:{SERIES[0].dark}}}" in drawing.svg()
    assert f'fill="{SERIES[0].light}"' in drawing.svg()
    assert "<style>" not in drawing.svg("in-a-page")


@pytest.mark.parametrize(("value", "written"), [(1.0, "1"), (-0.01, "0"), (2.25, "2.2"), (1e4, "10000")])
def test_numbers_are_short(value: float, written: str) -> None:
    assert number(value) == written
