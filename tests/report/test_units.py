"""Units: every one is shown by every renderer for people, and reports hold values instead of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from archcalc import fit, load
from archcalc.catalog.gpus import gpus
from archcalc.render import bars
from archcalc.render.words import FLAGS, WORDS
from archcalc.report.base import Flag, Quantity, Unit

if TYPE_CHECKING:
    from conftest import Run


def test_every_unit_and_flag_has_its_words() -> None:
    assert set(WORDS) == set(get_args(Unit))
    assert set(FLAGS) == set(get_args(Flag))


def test_an_estimate_is_a_flag_beside_the_name() -> None:
    lines = load("gpt2").memory().table().lines
    assert {line.cells[0]: line.flag for line in lines} == {
        "weights": "",
        "KV cache": "",
        "activations": "",
        "overhead": "estimate",
    }


def test_a_part_of_a_bar_goes_by_its_name(run: Run) -> None:
    """Renderers put the character of the bar before it."""
    figures = fit(load("gpt2"), gpus=["t4"]).figures()
    assert [figure.label for figure in figures] == ["weights", "activations", "cache", "overhead", "outside its share"]
    printed = run("fit", "gpt2", "--gpu", "t4").out
    assert all(f"{bars.GLYPHS[figure.segment or 0]} {figure.label} " in printed for figure in figures)


def test_facts_of_a_device_are_quantities(run: Run) -> None:
    facts = {line.cells[0]: line.cells[1] for line in gpus("h100").table().lines}
    assert facts["nameplate memory"] == Quantity(80 * 2**30, "memory")
    assert facts["dense bf16"].unit == "speed"
    assert "85,899,345,920 bytes · 80.00 GiB" in run("gpus", "h100").out
