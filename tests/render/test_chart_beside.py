"""`archcalc compare` as a picture: parts of all models to one scale, with the difference to the first in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.drawn import element, marked, words

import archcalc
from archcalc.analyze.compare.answer import CompareReport, compare
from archcalc.render.chart.beside import beside, groups

if TYPE_CHECKING:
    from conftest import Run


def report(*names: str, metric: str = "params") -> CompareReport:
    return compare([(name, archcalc.load(name)) for name in names], metric=metric)


@pytest.mark.parametrize(
    "names", [("gpt2", "gpt2-medium"), ("gpt2", "bert-base", "textbook"), ("textbook", "t5-small")]
)
def test_the_parts_of_every_model_come_to_the_whole(names: tuple[str, ...]) -> None:
    whole, *parts = groups(report(*names))
    totals = tuple(archcalc.load(name).params().total for name in names)
    assert whole.values == totals
    assert tuple(sum(part.values[place] or 0 for part in parts) for place in range(len(names))) == totals


def test_bars_are_to_one_scale() -> None:
    asked = report("gpt2", "gpt2-medium")
    drawn = marked(beside(asked), "data-model")
    values = [value or 0 for group in groups(asked) for value in group.values]
    wide = [float(each.attrib["width"]) for each in drawn]
    scale = max(wide) / 354_823_168  # GPT-2 medium as a whole
    assert wide == pytest.approx([value * scale for value in values], abs=0.11)


def test_differences_are_told_in_words() -> None:
    """The attention of GPT-2 medium: 24 · 4 · (1,024² + 1,024) to 12 · 4 · (768² + 768)."""
    said = words(beside(report("gpt2", "gpt2-medium")))
    times = 24 * (1024**2 + 1024) / (12 * (768**2 + 768))
    assert f"100.8 M · × {times:.3g}" in said
    assert "51.46 M · +33.3 %" in said
    assert "28.35 M · the same" in words(beside(report("gpt2", "bert-base")))


@pytest.mark.parametrize("metric", ["params", "flops", "memory"])
@pytest.mark.parametrize("wide", [358.0, 860.0])
def test_everything_stands_within_the_picture(metric: str, wide: float) -> None:
    found = element(beside(report("gpt2", "gpt2-medium", metric=metric), wide))
    assert all(float(each.attrib["x"]) + float(each.attrib["width"]) <= wide for each in found.findall(".//rect"))


def test_names_that_two_parts_have_are_told_apart() -> None:
    titles = [group.title for group in groups(report("textbook", "t5-small"))]
    assert len(set(titles)) == len(titles)
    assert {"encoder: attention", "decoder: attention"} <= set(titles), titles


def test_the_command_draws_it(run: Run) -> None:
    drawn = run("compare", "gpt2", "gpt2-medium", "--format", "svg").out
    assert drawn.startswith("<svg ") and "gpt2-medium has 2.851 times the parameters" in drawn
    assert "<svg " in run("compare", "gpt2", "gpt2-medium", "--format", "html").out
