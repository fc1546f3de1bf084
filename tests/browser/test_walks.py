"""The page of a walk in a real browser: keys, links that restore a step, no sideways scrolling, nothing that runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support.browser import Browser
from support.explorer import Explorer

import archcalc
from archcalc.render import render

HOSTILE = "\"'></script><img src=x onerror=\"console.error('ran')\"><script>console.error('ran')</script>"
Q = "encoder.blocks.attention.q"


def written(folder: Path, model: str = "textbook", **options: Any) -> Path:
    page = folder / "walk.html"
    page.write_text(render(archcalc.load(model).walk(**options), "html"), "utf-8")
    return page


def opened(browser: Browser, page: Path, step: str = "") -> None:
    """Anew, once its first step is drawn."""
    browser.open("about:blank")
    browser.open(f"{page.as_uri()}#{step}" if step else page)
    browser.one(".panel")


def titled(browser: Browser) -> str:
    return browser.one(".head h2").text


def place(browser: Browser) -> str:
    return browser.one(".place").text


def address(browser: Browser) -> str:
    return str(browser.script("return decodeURIComponent(location.hash.slice(1))"))


def press(browser: Browser, *keys: str) -> None:
    ActionChains(browser.driver).send_keys(*keys).perform()


def test_keys_go_from_step_to_step(browser: Browser, tmp_path: Path) -> None:
    steps = archcalc.load("textbook").walk().rows
    opened(browser, written(tmp_path))
    assert place(browser) == f"step 1 of {len(steps)}"
    press(browser, Keys.ARROW_RIGHT, Keys.PAGE_DOWN, Keys.ARROW_RIGHT)
    assert (titled(browser), address(browser)) == ("q", Q)
    press(browser, Keys.ARROW_LEFT)
    assert titled(browser) == "positions"
    press(browser, Keys.END)
    assert place(browser) == f"step {len(steps)} of {len(steps)}"
    press(browser, Keys.HOME, "3", "5")
    assert (place(browser), address(browser)) == (f"step 35 of {len(steps)}", "decoder.blocks.cross.scores")
    assert browser.console() == []


def test_a_link_restores_its_step_and_that_of_a_part_its_first(browser: Browser, tmp_path: Path) -> None:
    page = written(tmp_path)
    browser.open(f"{page.as_uri()}#decoder.blocks.cross.scores")
    assert browser.one(".formula").text == "scores = q·kᵀ"
    browser.open(f"{page.as_uri()}#decoder.blocks.cross")
    browser.until(lambda: titled(browser) == "q" or None)
    assert browser.one(".crumbs").text.split("\n") == ["decoder", "block × 8", "cross-attention"]
    keys = browser.one(".product .signal .from")
    assert keys.text.startswith("from step")
    keys.click()
    browser.until(lambda: address(browser) == "decoder.blocks.attention_norm" or None)
    browser.open(f"{page.as_uri()}#nothing-of-that-name")
    browser.until(lambda: place(browser).startswith("step 1 ") or None)


def test_buttons_and_the_strip_do_what_keys_do(browser: Browser, tmp_path: Path) -> None:
    opened(browser, written(tmp_path))
    before, after, widths = browser.all(".controls button")
    assert before.get_attribute("disabled")
    after.click()
    assert titled(browser) == "tokens"
    browser.script(
        "document.querySelector('.strip rect[data-step=\"46\"]').dispatchEvent("
        "new MouseEvent('click', {bubbles: true}))"
    )
    assert titled(browser) == "head"
    widths.click()
    assert widths.text == "widths: parameters"


def test_widths_of_the_strip_are_to_scale(browser: Browser, tmp_path: Path) -> None:
    opened(browser, written(tmp_path))
    report = archcalc.load("textbook").walk()
    wide = browser.script("return [...document.querySelectorAll('.strip rect')].map((r) => +r.getAttribute('width'))")
    assert wide == pytest.approx([1000 * row.flops / report.flops for row in report.rows])


def test_boxes_of_all_steps_are_on_one_scale(browser: Browser, tmp_path: Path) -> None:
    """A side of 1,024 is as long in the first product as in the last; a side four times as long twice."""
    page = written(tmp_path)

    def face(path: str, kind: str) -> list[float]:
        opened(browser, page, path)
        code = "const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.width, r.height]"
        return list(browser.script(code, f".{kind} .face"))

    x, weight = face(Q, "signal"), face(Q, "weight")
    head = face("head", "signal")
    assert x == pytest.approx(head, rel=0.02)
    assert x[1] / x[0] == pytest.approx(2**0.5, rel=0.03)
    assert weight[1] == pytest.approx(x[0], rel=0.03)


@pytest.mark.parametrize(
    "name",
    ["textbook", "deepseek-v3", "resnet-18", "sentiment-lstm", "mamba-130m", "unet", "word2vec-cbow", "vit-b-16"],
)
def test_nothing_scrolls_sideways_at_any_step(browser: Browser, tmp_path: Path, name: str) -> None:
    page = written(tmp_path, name)
    opened(browser, page)
    for wide in (1440, 1024, 390):
        browser.size(wide, 844)
        press(browser, Keys.HOME)
        for number in range(len(archcalc.load(name).walk().rows)):
            inside = browser.script("return document.documentElement.scrollWidth <= innerWidth")
            assert inside, (wide, number, titled(browser))
            press(browser, Keys.ARROW_RIGHT)
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]


def test_all_steps_are_printed(browser: Browser, tmp_path: Path) -> None:
    opened(browser, written(tmp_path))
    browser.script("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.all(".paper .panel")) == len(archcalc.load("textbook").walk().rows)
    browser.script("dispatchEvent(new Event('afterprint'))")
    assert browser.all(".paper") == []


def test_names_from_a_file_are_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    spec = tmp_path / "model.yaml"
    written_as = json.dumps({"family": "network", "name": HOSTILE, "input": [4], "layers": [{"linear": 3}]})
    spec.write_text(written_as, "utf-8")
    opened(browser, written(tmp_path, str(spec)))
    assert "<img" in browser.one("h1").text
    press(browser, Keys.END)
    assert browser.console() == []


def test_the_explorer_walks_from_step_to_step(page: Explorer) -> None:
    page.open("#view=walk")
    steps = len(archcalc.load("textbook").walk().rows)
    page.say("#view output", f"step 1 of {steps}")
    page.one("#view .toolbar button:last-child").click()
    page.say("#view output", f"step 2 of {steps}")
    page.until(lambda: "W_tokens[ids] + b_tokens" in page.text("#view [data-chart=walk]") or None)
    page.one("#view .toolbar button:last-child").send_keys(Keys.ARROW_LEFT)
    page.say("#view output", f"step 1 of {steps}")
