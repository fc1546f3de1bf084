"""Curves as SVG and in characters: what is drawn is what the report has."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import archcalc
from archcalc.analyze.plot.report import PlotReport
from archcalc.render import render
from archcalc.render.chart.curves import curves
from archcalc.render.chart.text_curves import Canvas, in_text
from archcalc.render.inks import DASHES, SERIES
from archcalc.render.style import UNSTYLED
from archcalc.report.picture import Curves, Line, Panel

SVG = "{http://www.w3.org/2000/svg}"
LLAMA = archcalc.load("llama-3.1-8b")


@pytest.fixture(scope="module")
def report() -> PlotReport:
    return LLAMA.plot("seq=1k..128k", y="memory,cache", by="weights", gpus=["rtx-4090"])


@pytest.fixture(scope="module")
def drawn(report: PlotReport) -> ElementTree.Element:
    return ElementTree.fromstring(render(report, "svg"))


def words(drawn: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in drawn.iter(f"{SVG}text")]


def test_every_curve_is_labelled_and_every_crossing_has_its_number(
    report: PlotReport, drawn: ElementTree.Element
) -> None:
    found = words(drawn)
    assert {line.label for line in report.curves.panels[0].lines} <= set(found)
    assert {f"{met.crossing.last:,}" for met in report.met if met.crossing} <= set(found)
    assert "rtx-4090 · 23.52 GiB" in found


def test_a_pointer_on_a_point_reads_its_exact_number(report: PlotReport, drawn: ElementTree.Element) -> None:
    hints = [each.text for each in drawn.iter(f"{SVG}title")]
    for line in report.curves.panels[0].lines:
        for place, height in zip(report.x.values, line.heights, strict=True):
            start = f"{line.label} · seq {place:,}: {height:,} bytes"
            assert any(hint and hint.startswith(start) for hint in hints), start


def test_those_who_cannot_see_it_are_told(report: PlotReport, drawn: ElementTree.Element) -> None:
    told = drawn.findtext(f"{SVG}desc") or ""
    assert "bf16 · memory: 15.67 GiB at seq 1,000, 42.37 GiB at 128,000" in told
    assert report.met[0].told in told


def test_lines_differ_in_colour_and_in_dashes(drawn: ElementTree.Element) -> None:
    lines = [each for each in drawn.iter(f"{SVG}path") if each.get("stroke-width") == "2.2"]
    looks = {(each.get("stroke"), each.get("stroke-dasharray", "")) for each in lines}
    assert looks == {(ink.light, dash) for ink, dash in zip(SERIES[:4], DASHES, strict=True)}


def test_a_line_passes_through_its_crossings(report: PlotReport) -> None:
    """What was computed between two points bends the line: it is not drawn beside its own rings."""
    for met in report.met:
        assert met.crossing
        line = next(one for one in report.curves.panels[0].lines if one.label == met.line.label)
        assert (met.crossing.last, met.crossing.at_last) in line.path


def test_words_do_not_cover_each_other(drawn: ElementTree.Element) -> None:
    """Of one size and one row, none begins where another one stands."""
    rows: dict[str, list[float]] = {}
    for each in drawn.iter(f"{SVG}text"):
        rows.setdefault(f"{each.get('y')}", []).append(float(each.get("x", 0)))
    assert all(len(set(found)) == len(found) for found in rows.values())


def test_everything_stands_within_the_picture(drawn: ElementTree.Element) -> None:
    _, _, wide, high = map(float, (drawn.get("viewBox") or "").split())
    for each in drawn.iter(f"{SVG}path"):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", each.get("d", ""))]
        assert all(0 <= x <= wide for x in numbers[::2]) and all(0 <= y <= high for y in numbers[1::2])


def test_beyond_the_context_of_its_model_a_line_is_thin_and_dotted() -> None:
    """It is not what Llama 3 was trained for, and the picture says so."""
    drawn = ElementTree.fromstring(curves(archcalc.load("llama-3-8b").plot("seq=1k..128k", gpus=["rtx-4090"])).svg())
    (beyond,) = [
        each
        for each in drawn.iter(f"{SVG}path")
        if each.get("stroke-dasharray") == "1 3" and "f-" not in each.get("class", "")
    ][1:]
    assert beyond.get("stroke-width") == "1.2"
    assert "dotted: longer than the context of the model, 8,192" in words(drawn)


def test_a_gap_breaks_the_line() -> None:
    report = archcalc.load("gpt2").plot("heads=2,3,5,8,12")
    paths = re.findall(r'd="(M[^"]*)" fill="none" stroke-width="2.2"', curves(report).svg())
    lines = [path for path in paths if path.count("L") >= 1]
    assert sorted(path.count("L") for path in lines) == [1, 1, 1]  # two pieces of two points, and the label's sample


def test_panels_stand_beneath_each_other_with_places_in_line() -> None:
    drawn = ElementTree.fromstring(curves(LLAMA.plot("batch=1,2,4,8", y="memory,flops")).svg())
    places: dict[str, set[str]] = {}
    for each in drawn.iter(f"{SVG}text"):
        if each.get("text-anchor") == "middle" and (each.text or "").isdigit():
            places.setdefault(each.text or "", set()).add(each.get("x") or "")
    assert {label: len(found) for label, found in places.items()} == {"1": 1, "2": 1, "4": 1, "8": 1}


def chart(*heights: int | None) -> Curves:
    places = tuple(range(1, len(heights) + 1))
    line = Line("a", 0, heights, tuple(zip(places, heights, strict=True)))
    return Curves("", "", "n", places, (Panel("a", "count", (line,)),))


def test_a_terminal_shows_the_points_where_they_are() -> None:
    """A straight line goes through every column once, from the lower left to the upper right."""
    lines = [line.translate(UNSTYLED) for line in in_text(chart(0, 1, 2, 3), 60)]
    rows = [row for row, line in enumerate(lines) for _ in range(line.split("│")[-1].split("┤")[-1].count("●"))]
    assert len(rows) == 4 + 1  # and the mark of the label
    columns = [line.index("●") for line in lines if "●" in line]
    assert columns == sorted(columns, reverse=True)


def test_dots_of_a_character_are_braille() -> None:
    canvas = Canvas(1, 1)
    canvas.line((0, 3), (1, 0), 0)
    assert canvas.row(0).translate(UNSTYLED) == chr(0x2800 + 0x40 + 0x04 + 0x10 + 0x08)


def test_words_are_not_written_over_a_line() -> None:
    canvas = Canvas(10, 2)
    canvas.line((0, 0), (19, 0), 0)
    assert not canvas.write(0, 1, "no")
    assert canvas.write(1, 1, "yes")
    assert not canvas.write(1, 9, "too far")
    assert canvas.row(1).translate(UNSTYLED).strip() == "yes"
