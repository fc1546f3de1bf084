"""The memory timeline in a real browser: drag, keys and switches, in a report and in the explorer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from support.browser import Browser
from support.explorer import Explorer

import archcalc
from archcalc.analyze.memory.report import MemoryReport
from archcalc.render import as_html
from archcalc.spec.units import binary_bytes


def memory(name: str = "gpt2", **options: Any) -> MemoryReport:
    return archcalc.load(name).memory(mode="train", timeline=True, **options)


def opened(browser: Browser, folder: Path, report: MemoryReport) -> WebElement:
    """The slider of the page, once the script has drawn it."""
    page = folder / "memory.html"
    page.write_text(as_html.render(report, width=80), "utf-8")
    browser.open(page)
    browser.one("[data-timeline] .area")
    return browser.one("[data-timeline] input[type=range]")


def said(browser: Browser) -> str:
    return browser.one("[data-timeline] .said").text


def choose(browser: Browser, group: int, label: str) -> None:
    """Click on a value of a switch."""
    labels = browser.all(f"[data-timeline] fieldset:nth-of-type({group}) label")
    next(one for one in labels if one.text == label).click()


def test_it_opens_at_the_peak_and_says_why(browser: Browser, tmp_path: Path) -> None:
    report = memory()
    slider = opened(browser, tmp_path, report)
    assert browser.one("[data-timeline] .why").text == report.why()
    assert said(browser).startswith(f"{binary_bytes(report.total_bytes)} · the peak · backward · loss")
    assert "the peak" in (slider.get_attribute("aria-valuetext") or "")
    assert browser.console() == []


def test_what_is_listed_at_the_cursor_is_what_is_alive_there(browser: Browser, tmp_path: Path) -> None:
    report = memory()
    opened(browser, tmp_path, report)
    line = report.ops.value if report.ops else None
    assert line
    largest, copies = line.alive(line.peak)[0]
    first = browser.one("[data-timeline] tbody tr")
    cells = [one.text for one in first.find_elements("css selector", "th, td")]
    size, shape = binary_bytes(largest.bytes * copies), " × ".join(map(str, largest.shape))
    assert cells[:4] == [largest.name, size, shape, largest.dtype]


def test_arrow_keys_go_from_op_to_op(browser: Browser, tmp_path: Path) -> None:
    """Home is the first op of the forward pass: of an empty step, and the embedding's output."""
    slider = opened(browser, tmp_path, memory())
    peak = int(slider.get_attribute("value") or 0)
    slider.send_keys(Keys.ARROW_LEFT)
    assert int(slider.get_attribute("value") or 0) == peak - 1
    assert "% of the peak" in said(browser)
    slider.send_keys(Keys.HOME)
    assert "forward · embedding.tokens" in said(browser)
    slider.send_keys(Keys.END)
    assert "optimizer" in said(browser)
    browser.one("[data-timeline] button").click()
    assert "the peak" in said(browser)
    assert int(slider.get_attribute("value") or 0) == peak


def test_the_picture_is_dragged(browser: Browser, tmp_path: Path) -> None:
    """A fifth from the left is in the forward pass, and four fifths in the backward pass."""
    opened(browser, tmp_path, memory())
    picture = browser.one("[data-timeline] > svg")
    wide = picture.size["width"]
    drag = ActionChains(browser.driver).move_to_element_with_offset(picture, round(-0.3 * wide), 0).click_and_hold()
    drag.perform()
    assert "forward · decoder.blocks" in said(browser)
    ActionChains(browser.driver).move_by_offset(round(0.6 * wide), 0).release().perform()
    assert "backward · decoder.blocks" in said(browser)
    assert browser.script("return document.activeElement.type") == "range"


@pytest.mark.parametrize(
    ("group", "label", "options"),
    [(1, "on", {"recompute": "full"}), (2, "stage 3", {"dp": 8, "zero": 3}), (3, "rank 16", {"lora": 16})],
)
def test_a_switch_shows_the_step_of_those_options(
    browser: Browser, tmp_path: Path, group: int, label: str, options: dict[str, Any]
) -> None:
    asked, other = memory(), memory(**options)
    opened(browser, tmp_path, asked)
    choose(browser, group, label)
    more = other.total_bytes - asked.total_bytes
    told = f"{binary_bytes(abs(more))} {'more' if more > 0 else 'less'} than as asked"
    assert browser.one("[data-timeline] .difference").text == f"{binary_bytes(other.total_bytes)} at the peak: {told}"
    assert browser.one("[data-timeline] .why").text == other.why()
    assert browser.script("return document.querySelectorAll('.ghost').length") == 1
    choose(browser, group, "off")
    assert browser.one("[data-timeline] .difference").text.endswith("as asked")


def test_the_area_morphs_unless_nothing_is_to_move(browser: Browser, tmp_path: Path) -> None:
    """The weights' area takes its new shape at once for those who want no motion. A frame is every 50 ms here, however
    busy the machine is."""
    opened(browser, tmp_path, memory())
    browser.script(
        "let now = performance.now(); window.requestAnimationFrame = (step) => setTimeout(() => step(now += 50))"
    )
    shape = "return document.querySelector('[data-part=weights]').getAttribute('d')"
    browser.script(
        "window.shapes = new Set(); new MutationObserver(() => shapes.add(document.querySelector("
        "'[data-part=weights]').getAttribute('d'))).observe(document.querySelector('[data-timeline] > svg'),"
        "{childList: true})"
    )
    choose(browser, 2, "stage 3")
    browser.until(lambda: browser.script("return shapes.size") > 3 or None)
    motion = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [motion]})
    browser.until(
        lambda: browser.script(
            f"const a = ({'()=>{' + shape + '}'})(); return a === window.last || (window.last = a, false)"
        )
    )
    browser.script("shapes.clear()")
    choose(browser, 2, "off")
    assert browser.script("return shapes.size") == 1


@pytest.mark.parametrize("wide", [1440, 1024, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_every_page(browser: Browser, tmp_path: Path, wide: int, dark: bool) -> None:
    browser.dark(dark)
    browser.size(wide, 900)
    opened(browser, tmp_path, memory("sentiment-lstm"))
    assert browser.script("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.script(
        "return document.querySelector('[data-timeline] > svg').getBoundingClientRect().right <= innerWidth"
    )
    assert browser.console() == []


def test_a_narrower_page_is_not_wider_for_a_moment(browser: Browser, tmp_path: Path) -> None:
    """Measured before the page has time to draw anything anew, as it is laid out for print."""
    opened(browser, tmp_path, memory("sentiment-lstm"))
    room, wide = browser.script(
        "document.body.style.width = '390px';"
        "return [document.querySelector('[data-timeline]').clientWidth,"
        " document.querySelector('[data-timeline] > svg').getBoundingClientRect().width]"
    )
    assert wide == room < 390


def test_without_a_step_there_is_no_scrubber(browser: Browser, tmp_path: Path) -> None:
    """In inference nothing is switched, and the cursor is there all the same."""
    page = tmp_path / "memory.html"
    page.write_text(as_html.render(archcalc.load("gpt2").memory(timeline=True, mode="infer"), width=80), "utf-8")
    browser.open(page)
    browser.one("[data-timeline] input[type=range]")
    assert browser.all("[data-timeline] fieldset") == []
    assert re.match(r"The peak is in the forward pass of decoder\.blocks", browser.one(".why").text)


def test_the_explorer_has_the_same(page: Explorer) -> None:
    page.open("#model=gpt2&mode=train&view=timeline")
    page.say("[data-timeline] .why", memory().why())
    choose(page.browser, 1, "on")
    page.say("[data-timeline] .why", memory(recompute="full").why())
