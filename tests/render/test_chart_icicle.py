"""Parameters as cells inside cells: areas and labels are those of the report."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.drawn import element, marked, words

import archcalc
from archcalc.analyze.params import ParamsReport
from archcalc.render.chart.icicle import HEIGHT, MOST, cells, icicle, places

HOSTILE = '"><script>alert(1)</script>'


def report(name: str = "textbook") -> ParamsReport:
    return archcalc.load(name).params()


@pytest.mark.parametrize("name", ["textbook", "deepseek-v3", "densenet-121", "sentiment-lstm", "word2vec-cbow"])
def test_the_cells_inside_a_cell_come_to_it(name: str) -> None:
    whole = cells(report(name)).whole
    assert whole.total == report(name).total
    for cell in whole.walk():
        assert not cell.children or sum(child.total for child in cell.children) == cell.total


def test_heights_are_proportional_to_parameters() -> None:
    drawn = icicle(report())
    total = report().total
    for cell in marked(drawn, "data-path"):
        count = int(cell.attrib["data-count"].replace(",", ""))
        share = float(cell.attrib["data-to"]) - float(cell.attrib["data-from"])
        assert share == pytest.approx(count / total, abs=1e-6)
        rectangle = cell.find("rect")
        assert rectangle is not None
        assert float(rectangle.attrib["height"]) == pytest.approx(max(share * HEIGHT - 1, 0.5), abs=0.11)


def test_counts_and_workings_are_those_of_the_table() -> None:
    rows = {row.path: row for row in report().rows}
    found = {cell.attrib["data-path"]: cell.attrib for cell in marked(icicle(report()), "data-path")}
    assert found["encoder"]["data-title"] == "encoder · block × 12"  # which hold all of it
    assert "encoder.blocks" not in found
    assert (
        found["encoder.blocks.attention"]["data-count"] == f"{12 * (4 * 3 * (1024 * 192 + 192) + 768 * 1024 + 1024):,}"
    )
    assert found["encoder.blocks.ffn"]["data-working"] == "12 × ((1024 × 512 + 512) + (512 × 1024 + 1024))"
    assert all(int(each["data-count"].replace(",", "")) == rows[path].total for path, each in found.items())


def test_children_stand_within_their_parent() -> None:
    around = list(places(cells(report()).whole))
    for place in around:
        inside = [other for other in around if other.cell in place.cell.children]
        assert all(place.start <= other.start < other.end <= place.end for other in inside)
        assert all(other.level == place.level + 1 for other in inside)


def test_kinds_of_parts_are_in_the_legend_by_their_names() -> None:
    assert {"embedding", "attention", "feed-forward", "normalisation", "output layer"} <= set(words(icicle(report())))


def test_a_model_of_many_parts_says_how_many_are_not_drawn() -> None:
    found = cells(report("densenet-121"))
    assert len([cell for cell in found.whole.walk() if not cell.path.endswith("…")]) == MOST
    assert found.left_out > MOST
    assert f"{found.left_out:,} smaller parts" in icicle(report("densenet-121")).described


def test_names_are_text() -> None:
    drawn = icicle(replace(report(), model=HOSTILE))
    assert HOSTILE in drawn.title
    assert "<script" not in drawn.svg()
    assert element(drawn).findall(".//script") == []
