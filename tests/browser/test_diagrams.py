"""Diagrams on pages in a real browser: buttons and keys zoom, a fit shows all, paper keeps captions with figures."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import Browser

import archcalc
from archcalc.render.html.diagram import render

WIDTH = "return document.querySelector('.diagram svg').getBoundingClientRect().width"
HEIGHT = "return document.querySelector('.diagram svg').getBoundingClientRect().height"
FRAME = "const frame = document.querySelector('.diagram'); return [frame.clientWidth, frame.clientHeight]"


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Browser:
    page = tmp_path / "diagram.html"
    page.write_text(render(archcalc.load("deepseek-v3").diagram()), encoding="utf-8")
    browser.open(page)
    return browser


def press(browser: Browser, words: str) -> None:
    buttons = browser.one(".zoom").find_elements(By.TAG_NAME, "button")
    next(each for each in buttons if each.get_attribute("aria-label") == words).click()


def natural(browser: Browser) -> float:
    return float(browser.one(".diagram svg").get_attribute("width") or 0)


def test_it_opens_as_wide_as_the_frame(shown: Browser) -> None:
    wide, _ = shown.script(FRAME)
    assert shown.script(WIDTH) == pytest.approx(min(wide, natural(shown)), abs=1)
    assert shown.console() == []


def test_buttons_zoom_and_fit(shown: Browser) -> None:
    before = shown.script(WIDTH)
    press(shown, "Zoom in")
    assert shown.script(WIDTH) == pytest.approx(1.25 * before, abs=1)
    press(shown, "Its own size")
    assert shown.script(WIDTH) == pytest.approx(natural(shown), abs=1)
    assert shown.one(".zoom output").text == "100 %"
    press(shown, "All of it")
    wide, high = shown.script(FRAME)
    assert shown.script(WIDTH) <= wide + 1 and shown.script(HEIGHT) <= high + 1


def test_keys_do_the_same(shown: Browser) -> None:
    frame = shown.one(".diagram")
    frame.send_keys("1")
    assert shown.script(WIDTH) == pytest.approx(natural(shown), abs=1)
    frame.send_keys("+")
    assert shown.script(WIDTH) == pytest.approx(1.25 * natural(shown), abs=1)
    frame.send_keys("-", "-", "0")
    assert shown.script(HEIGHT) <= shown.script(FRAME)[1] + 1
    frame.send_keys("1", Keys.ARROW_DOWN)
    assert shown.until(lambda: shown.script("return document.querySelector('.diagram').scrollTop") > 0)


@pytest.mark.parametrize("wide", [1440, 1024, 390])
def test_the_page_is_never_wider_than_the_window(shown: Browser, wide: int) -> None:
    shown.size(wide, 900)
    assert shown.script("return document.documentElement.scrollWidth <= innerWidth")


def test_paper_has_no_buttons_and_keeps_captions_with_their_figures(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(archcalc.load("gpt2").report().html(), encoding="utf-8")
    browser.open(page)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    rules = "return [...document.querySelectorAll('figure')].map((each) => getComputedStyle(each).breakInside)"
    assert set(browser.script(rules)) == {"avoid"}
    after = (
        "return [...document.querySelectorAll('h2, h3, figcaption')].map((each) => getComputedStyle(each).breakAfter)"
    )
    assert set(browser.script(after)) == {"avoid"}
    assert browser.script("return getComputedStyle(document.querySelector('.zoom')).display") == "none"
    widest = "return document.querySelector('.diagram svg').getBoundingClientRect().width <= document.body.clientWidth"
    assert browser.script(widest)
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
