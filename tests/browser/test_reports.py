"""Reports in a real browser: they open without a complaint and without a request, and do what they say."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from support.browser import Browser
from support.safetensors_files import file

import archcalc

FITS = "; function fits(table) { return table.getBoundingClientRect().right <= innerWidth; }"
HOSTILE = "\"'><img src=x onerror=\"console.error('ran')\"><script>console.error('ran')</script>"
OF_EVERY_KIND = [
    "textbook",
    "gpt2",
    "sentiment-lstm",
    "gnmt",
    "vit-b-16",
    "resnet-18",
    "unet",
    "word2vec-cbow",
    "vae-mnist",
    "mamba-130m",
    "deepseek-v3",
    "densenet-121",
    "recursive-autoencoder",
]


def written(folder: Path, model: str = "textbook", **options: Any) -> Path:
    page = folder / "report.html"
    page.write_text(archcalc.load(model).report(**options).html(), "utf-8")
    return page


def check_quiet(browser: Browser, page: Path) -> None:
    assert browser.console() == []
    assert browser.requests() == [page.as_uri()]


def is_within(browser: Browser) -> bool:
    return bool(browser.script("return document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("name", OF_EVERY_KIND)
def test_a_report_opens_quietly_at_every_width(browser: Browser, tmp_path: Path, name: str) -> None:
    page = written(tmp_path, name)
    browser.open(page)
    total = f"{archcalc.load(name).params().total:,}"
    assert total in browser.one(".cards").text
    for wide in (1440, 1024, 390):
        browser.size(wide, 900)
        assert is_within(browser)
    check_quiet(browser, page)


def test_the_report_of_a_file_of_weights_opens(browser: Browser, tmp_path: Path) -> None:
    """Thousands of tensors, of which as many are drawn as can be read."""
    tensors = {f"model.layers.{n}.mlp.{m}.weight": ("BF16", [8 + n, 16 + m]) for n in range(60) for m in range(40)}
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(file(tensors))
    page = written(tmp_path, str(weights))
    assert page.stat().st_size < 300_000
    browser.open(page)
    assert "Not in this report" in browser.one("main").text
    check_quiet(browser, page)


def test_figures_are_those_of_the_commands(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path, "gpt2"))
    browser.script("document.querySelectorAll('details').forEach((each) => each.open = true)")
    words = browser.one("main").text
    model = archcalc.load("gpt2")
    for mode in ("infer", "train"):
        answer = model.memory(mode=mode).record()
        assert all(f"{size:,}" in words for size in answer["parts"].values() if size)
    flops = model.flops().record()
    assert f"{flops['forward']:,}" in words
    peaks = browser.until(lambda: [each.text for each in browser.all("#memory ~ figure .peak-words")])
    assert peaks == ["peak 1.06 GiB", "peak 3.48 GiB"]


def cell(browser: Browser, path: str) -> WebElement:
    return browser.one(f'[data-path="{path}"]')


def crumbs(browser: Browser) -> list[str]:
    return [each.text for each in browser.all(".crumbs button")]


def height(found: WebElement) -> float:
    return float(found.find_element(By.TAG_NAME, "rect").get_attribute("height") or 0)


def test_a_click_opens_a_part_and_the_path_closes_it(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path))
    before = height(cell(browser, "encoder.blocks.attention"))
    cell(browser, "encoder").find_element(By.TAG_NAME, "rect").click()
    assert crumbs(browser) == ["textbook Transformer", "encoder · block × 12"]
    attention, blocks = cell(browser, "encoder.blocks.attention"), cell(browser, "encoder")
    assert height(attention) > 2 * before
    assert height(attention) / height(blocks) == pytest.approx(3_149_056 / 4_203_264, abs=0.01)
    assert not cell(browser, "decoder").is_displayed()
    browser.all(".crumbs button")[0].click()
    assert crumbs(browser) == ["textbook Transformer"]
    assert cell(browser, "decoder").is_displayed()


def test_the_keyboard_does_the_same(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path))
    browser.one(".crumbs")
    whole = cell(browser, "model")
    whole.send_keys(Keys.ARROW_RIGHT)
    focused = browser.driver.switch_to.active_element
    assert focused.get_attribute("data-path") == "source_embedding"
    focused.send_keys(Keys.ARROW_DOWN)
    focused = browser.driver.switch_to.active_element
    assert focused.get_attribute("aria-label") == "encoder · block × 12: 50,439,168 parameters, 25.0 %"
    focused.send_keys(Keys.ENTER)
    assert crumbs(browser) == ["textbook Transformer", "encoder · block × 12"]
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert crumbs(browser) == ["textbook Transformer"]
    assert len(browser.all("[data-path][tabindex='0']")) == 1


def test_the_working_is_told_of_what_is_pointed_at_or_focused(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path))
    browser.one(".crumbs")
    browser.script("arguments[0].focus()", cell(browser, "encoder.blocks.ffn"))
    told = browser.one(".detail").text
    assert "12,601,344 parameters" in told
    assert "12 × ((1024 × 512 + 512) + (512 × 1024 + 1024))" in told


def test_a_hostile_name_is_text(browser: Browser, tmp_path: Path) -> None:
    spec = {"name": HOSTILE, "vocab": 10, "d_model": 8, "heads": 2, "ffn": 8, "decoder": 1}
    source = tmp_path / "hostile.yaml"
    source.write_text(json.dumps(spec), "utf-8")
    page = written(tmp_path, str(source))
    browser.open(page)
    assert browser.one("h1").text == HOSTILE
    assert HOSTILE in browser.one(".crumbs").text
    assert browser.all("img") == []
    check_quiet(browser, page)


def background(browser: Browser) -> str:
    return str(browser.script("return getComputedStyle(document.body).backgroundColor"))


def test_it_follows_the_reader_to_dark_and_prints_in_light(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path))
    assert background(browser) == "rgb(255, 255, 255)"
    browser.dark(True)
    assert background(browser) == "rgb(21, 24, 29)"
    text = "return getComputedStyle(document.querySelector('[data-path] text')).fill"
    assert browser.script(text) == "rgb(232, 234, 237)"
    scheme = {"name": "prefers-color-scheme", "value": "dark"}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [scheme]})
    assert background(browser) == "rgb(255, 255, 255)"
    assert browser.script(text) == "rgb(28, 36, 48)"
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_phone_has_charts_of_its_own(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path, "gpt2"))
    browser.size(390, 844)
    shown = [each for each in browser.all("figure svg") if each.is_displayed()]
    wide = [each.size["width"] for each in shown if "archcalc-chart" in str(each.get_attribute("class"))]
    wide += [each.size["width"] for each in browser.all("[data-timeline] > svg")]
    assert len(wide) == 7  # parameters, FLOPs, the fit matrix, and memory and devices of two modes
    assert max(wide) <= 358


def test_the_contents_lead_to_every_section(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path))
    links = {each.get_attribute("hash"): each.text for each in browser.all("nav a")}
    assert links == {f"#{each.get_attribute('id')}": each.text for each in browser.all("h2")}


def test_headings_are_in_order(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path))
    levels = [int(each.tag_name[1]) for each in browser.all("h1, h2, h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("command", ["params", "shapes", "flops", "memory"])
def test_the_page_of_one_report_opens_quietly(browser: Browser, tmp_path: Path, command: str) -> None:
    from archcalc.render import render

    page = tmp_path / f"{command}.html"
    page.write_text(render(getattr(archcalc.load("textbook"), command)(), "html"), "utf-8")
    browser.open(page)
    assert "textbook Transformer" in browser.one("h1").text
    browser.size(390, 844)
    assert is_within(browser)
    assert browser.script("return [...document.querySelectorAll('table.figures')].every(fits)" + FITS)
    check_quiet(browser, page)
