"""A chart of which every length is alike is not drawn, whatever its kind, and its section has no empty frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

import archcalc
from archcalc import InputError
from archcalc.analyze.fit.answer import fit
from archcalc.render import render
from archcalc.render.html.charts import chart, is_drawn
from archcalc.report.base import Report
from archcalc.report.picture import says_something

if TYPE_CHECKING:
    from conftest import Run


@pytest.mark.parametrize(
    ("lengths", "is_seen"),
    [([], False), ([3], False), ([5, 5, None], False), ([0, 0], False), ([1000, 950], False), ([1000, 800], True)],
)
def test_what_differs_by_less_than_is_seen_is_alike(lengths: list[int | None], *, is_seen: bool) -> None:
    assert says_something(lengths) is is_seen


def halves() -> Report:
    """Encoder and decoder of a linear autoencoder: 784 × 32 weights each."""
    return archcalc.load("linear-autoencoder").params()


def constants() -> Report:
    """Weights that are there throughout."""
    return archcalc.load("llama-3-8b").memory()


def single_bar() -> Report:
    """Nothing but linear layers."""
    return archcalc.load("linear-autoencoder").flops(mode="forward")


@pytest.mark.parametrize("report", [halves, constants, single_bar])
def test_equal_parts_a_rectangle_and_a_single_bar_are_not_drawn(report: Callable[[], Report]) -> None:
    found = report()
    assert not is_drawn(found) and chart(found) is None
    assert "<figure" not in render(found, "html")
    with pytest.raises(InputError, match="would show nothing"):
        render(found, "svg")


def test_curves_that_rise_a_little_are_drawn_and_a_flat_line_is_not() -> None:
    """Memory of a small model is mostly overhead; weights do not grow with the sequence."""
    assert is_drawn(archcalc.load("mlp-mnist").plot("batch=1,2"))
    assert not is_drawn(archcalc.load("llama-3-8b").plot("seq=1k,2k", y="weights"))


@pytest.mark.parametrize(
    "report",
    [
        lambda: archcalc.load("llama-3-8b").params(),
        lambda: archcalc.load("gpt2").memory(mode="train"),
        lambda: fit(archcalc.load("llama-3-8b"), ["rtx-4090"]),
        lambda: archcalc.load("llama-3-8b").flops(mode="prefill"),
        lambda: archcalc.load("llama-3-8b").plot("seq=1k..8k"),
    ],
)
def test_what_says_something_is_drawn(report: Callable[[], Report]) -> None:
    assert "<svg " in render(report(), "html")


def test_a_report_page_has_no_empty_frame(run: Run) -> None:
    page = archcalc.load("linear-autoencoder").report().html()
    assert "<figure>\n</figure>" not in page
    assert "A click or Enter opens a part" not in page  # there is none to open
    assert "25,088" in page  # the table says it all
