"""A chart as a page opens without a complaint and asks for nothing, in light and in dark, and on a telephone."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.browser import Browser

import archcalc
from archcalc.cli.pictures import WRITTEN

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = {"name": HOSTILE, "vocab": 1000, "d_model": 64, "heads": 4, "ffn": 128, "position": "none", "decoder": 2}
    report = archcalc.load(spec).plot("seq=8..512", y="memory,flops", by="batch=1,4", gpus=["600MiB"])
    file = tmp_path_factory.mktemp("plot") / "plot.html"
    file.write_text(str(WRITTEN[".html"](report)), "utf-8")
    return file


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("wide", [1440, 390])
def test_a_chart_opens_quietly(browser: Browser, page: Path, dark: bool, wide: int) -> None:
    browser.dark(dark)
    browser.size(wide, 900)
    browser.open(page)
    assert browser.one("h1").text.startswith(HOSTILE)
    assert browser.one("svg").size["width"] <= wide
    assert browser.script("return document.documentElement.scrollWidth") <= wide
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]


def test_the_points_are_beside_the_chart(browser: Browser, page: Path) -> None:
    browser.open(page)
    rows = browser.all("table tbody tr")[:7]
    assert [row.text.split()[0] for row in rows] == ["8", "16", "32", "64", "128", "256", "512"]
