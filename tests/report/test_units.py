"""Units: every one is shown by every renderer for people, and reports hold values instead of words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, get_args

import pytest

from archcalc import fit, load
from archcalc.catalog.gpus import gpus
from archcalc.render import formats, render
from archcalc.render.page import MARKS
from archcalc.report import units
from archcalc.report.base import Figure, Report
from archcalc.report.table import Column, Flag
from archcalc.report.units import Quantity, unit, words
from archcalc.ui.tables import shown

if TYPE_CHECKING:
    from conftest import Run

FOR_PEOPLE = [name for name in formats() if name not in ("json", "csv", "svg")]


class Part(NamedTuple):
    name: str
    energy: float | None


@dataclass(frozen=True)
class Plain(Report):
    """Rows and nothing else: no answer, no figures."""

    command: ClassVar[str] = "plain"
    rows: tuple[Part, ...] = (Part("first", 2.5e6), Part("second", None))

    def columns(self) -> tuple[Column[Part], ...]:
        return Column("name", "part", "name"), Column("energy", "energy", "joule")


@dataclass(frozen=True)
class Measured(Plain):
    def figures(self) -> tuple[Figure, ...]:
        return (Figure("whole", 2.5e6, "joule"),)


@dataclass(frozen=True)
class Bare(Report):
    """Not even rows."""

    command: ClassVar[str] = "bare"


@pytest.fixture
def joule() -> Iterator[None]:
    unit("joule", lambda value: f"{value / 1e6:.1f} MJ")
    yield
    del units.UNITS["joule"]


def test_every_flag_has_its_marks() -> None:
    assert set(MARKS) == set(get_args(Flag))


@pytest.mark.usefixtures("joule")
@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_a_unit_of_its_own_is_written_in_every_format(format: str) -> None:
    assert render(Plain("tiny", ()), format).count("2.5 MJ") == 1
    assert render(Measured("tiny", ()), format).count("2.5 MJ") == 2


@pytest.mark.usefixtures("joule")
def test_programs_read_its_value() -> None:
    record = Plain("tiny", ()).record()
    assert record["rows"] == [{"name": "first", "energy": 2.5e6}, {"name": "second", "energy": None}]
    assert render(Plain("tiny", ()), "csv") == "name,energy\nfirst,2500000.0\nsecond,"


@pytest.mark.parametrize("format", sorted({*formats()} - {"svg"}))
def test_a_report_without_an_answer_figures_and_rows_renders(format: str) -> None:
    assert ("tiny" in render(Bare("tiny", ()), format)) == (format != "csv")
    assert "tiny" in Bare("tiny", ())._repr_html_()
    assert shown(Bare("tiny", ())) == (
        {"title": "tiny", "answer": "", "about": "", "beneath": [], "figures": [], "notes": []},
        [],
    )


def test_a_unit_that_nobody_declared_is_named() -> None:
    with pytest.raises(LookupError, match="no unit is called parsec"):
        words(1, "parsec")


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (0.75, "ratio", "3/4"),  # of floats too
        (0.94, "ratio", "0.940"),
        (None, "bound", "–"),
        (None, "count", ""),
        (-3 * 2**30, "room", "−3.00 GiB"),
        (Quantity(12, "times"), "text", "× 12"),
    ],
)
def test_values_in_words(value: object, name: str, text: str) -> None:
    assert words(value, name) == text


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
    assert [figure.label for figure in figures] == [
        "weights",
        "activations",
        "cache",
        "overhead",
        "not used by the engine",
    ]
    printed = run("fit", "gpt2", "--gpu", "t4").out
    assert all(f"{units.GLYPHS[figure.segment or 0]} {figure.label} " in printed for figure in figures)


def test_facts_of_a_device_are_quantities(run: Run) -> None:
    facts = {line.cells[0]: line.cells[1] for line in gpus("h100").table().lines}
    assert facts["nameplate memory"] == Quantity(80 * 2**30, "memory")
    assert facts["dense bf16"].unit == "speed"
    assert "85,899,345,920 bytes · 80.00 GiB" in run("gpus", "h100").out
