"""What fits where, in report and explorer: a slider moves the frontier, a click shows the command, nobody is asked."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys
from support.browser import Browser
from support.explorer import Explorer

Run = Callable[..., Any]  # the fixtures of tests/conftest.py
SHADES = "return [...document.querySelectorAll('.desk [data-cell], .chart [data-cell]')].map("
SHADES += "one => [one.dataset.cell, one.querySelector('rect').getAttribute('class').slice(2)])"
TOLD = "return JSON.parse(document.querySelector('[data-matrix]').dataset.matrix)"
WORDS = {"fits": "fitting", "tight": "tight", "cannot say": "unsure", "does not fit": "too-large"}


@pytest.fixture
def report(browser: Browser, run: Run, tmp_path: Path) -> Browser:
    """Of a model on two cards."""
    page = tmp_path / "report.html"
    asked = ("--mode", "infer", "--gpu", "rtx-3060", "--gpu", "rtx-4090", "-o", str(page))
    assert run("report", "llama-3.1-8b", *asked).code == 0
    browser.open(page)
    return browser


def told(browser: Browser, size: int) -> dict[str, str]:
    """The shade of each cell at a size, by what the page knows of it."""
    found = {}
    for down, row in enumerate(browser.script(TOLD)["cells"]):
        for across, cell in enumerate(row):
            fits = cell["most"] is None or size <= cell["most"]
            maybe = cell["limit"] is None or size <= cell["limit"]
            verdict = cell["within"] if fits else cell["beyond"] if maybe else "does not fit"
            found[f"{down} {across}"] = WORDS[verdict]
    return found


def test_the_slider_moves_the_frontier(report: Browser, run: Run) -> None:
    """Every cell of one format is coloured as `archcalc fit` answers at that length."""
    before = dict(report.script(SHADES))
    number = report.one(".slider input[type=number]")
    number.send_keys(Keys.CONTROL, "a")
    number.send_keys("30000")
    shades = dict(report.script(SHADES))
    assert shades == told(report, 30_000) != before
    for across, gpu in enumerate(("rtx-3060", "rtx-4090")):
        asked = ("--gpu", gpu, "--weights", "q8_0", "--seq", "30000", "--format", "json")
        (row,) = run("fit", "llama-3.1-8b", *asked).json["rows"]
        assert shades[f"1 {across}"] == WORDS[row["verdict"]]
    words = [text.text for text in report.all(".desk [data-cell='0 0'] text")]
    assert words[0] == "✗"  # what is missing for another length is not said
    range_ = report.one(".slider input[type=range]")
    range_.send_keys(Keys.END)
    assert number.get_property("value") == "131072" and dict(report.script(SHADES)) == told(report, 131_072)
    assert report.console() == [] and len(report.requests()) == 1  # the page itself


def test_a_click_shows_the_command_and_copies_it(report: Browser, run: Run) -> None:
    report.one(".desk [data-cell='0 1']").click()
    line = report.one(".cell-detail code").text
    assert line == "archcalc fit llama-3.1-8b --gpu rtx-4090"
    answer = run(*shlex.split(line)[1:]).out
    assert report.one(".cell-detail p").text.partition(" · ")[2].partition(":")[0] in answer
    report.one(".cell-detail button").click()
    report.until(lambda: report.one(".cell-detail button").text in ("Copied", "Selected") or None)
    number = report.one(".slider input[type=number]")
    number.send_keys(Keys.CONTROL, "a")
    number.send_keys("60000")
    assert report.one(".cell-detail code").text == f"{line} --seq 60000"
    assert "does not fit" in report.one(".cell-detail p").text


def test_cells_answer_to_the_keyboard(report: Browser) -> None:
    report.one(".desk [data-cell='1 0']").send_keys(Keys.ENTER)
    assert report.one(".cell-detail code").text == "archcalc fit llama-3.1-8b --gpu rtx-3060 --weights q8_0"


def test_the_field_of_a_phone_answers_too(report: Browser) -> None:
    report.size(390, 844)
    report.one(".phone [data-cell='2 1']").click()
    assert "--gpu rtx-4090 --weights" in report.one(".cell-detail code").text
    assert report.script("return document.documentElement.scrollWidth <= innerWidth")


def test_the_explorer_has_the_same(page: Explorer, run: Run) -> None:
    page.open("#view=matrix&model=llama-3.1-8b&gpu=rtx-3060&gpu=rtx-4090")
    page.until(lambda: page.browser.all("[data-cell]") or None)
    asked = ("--table", "weights,gpu", "--gpu", "rtx-3060", "--gpu", "rtx-4090", "--format", "json")
    rows = run("fit", "llama-3.1-8b", *asked).json["rows"]
    cells = [cell for row in page.browser.script(TOLD)["cells"] for cell in row]
    assert [cell["command"] for cell in cells] == [row["command"] for row in rows]
    assert [cell["most"] for cell in cells] == [row["max_seq"] for row in rows]
    number = page.one(".slider input[type=number]")
    number.send_keys(Keys.CONTROL, "a")
    number.send_keys("30000")
    assert dict(page.browser.script(SHADES)) == told(page.browser, 30_000)
    page.click("[data-cell='1 0']")
    assert page.text(".cell-detail code") == f"{rows[2]['command']} --seq 30000"
