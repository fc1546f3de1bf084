"""The explorer's first screen: the answer before all else, what to choose from in groups, errors once, on any width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys
from support.explorer import Explorer

Run = Callable[..., Any]  # a fixture of tests/conftest.py
PARTS = """
const parts = [...document.querySelectorAll("#verdict figure svg.track [data-part]")];
return parts.map(part => [part.dataset.part, part.getBoundingClientRect().width, getComputedStyle(part).fill]);
"""
GROUPS = """
const groups = [...document.querySelectorAll("#" + arguments[0] + " [role=group]")];
return groups.map(group => [group.querySelector(".group-name").textContent,
                            [...group.querySelectorAll("[role=option]")].map(one => one.dataset.value)]);
"""
PLACES = "return [...document.querySelectorAll(arguments[0])].map(one => one.getBoundingClientRect().bottom)"
OCCURS = "return document.body.innerText.split(arguments[0]).length - 1"
SCROLLED = """
const table = [...document.querySelectorAll(".table")].find(one => one.scrollWidth > one.clientWidth);
table.scrollLeft = 1000;
const first = table.querySelector("tbody th").getBoundingClientRect(), frame = table.getBoundingClientRect();
return [table.scrollLeft > 0, Math.round(first.left - frame.left), document.documentElement.scrollWidth];
"""


def test_the_sentence_that_heads_fit_comes_first(page: Explorer, run: Run) -> None:
    """Whole, as the command line has it, smallest cards included."""
    page.open("#model=llama-3-8b&gpu=rtx-4090")
    summary = run("fit", "llama-3-8b", "--gpu", "rtx-4090", "--format", "json").json["summary"]

    def shown() -> str:
        return "; ".join(page.written(f"#verdict .tile-{part}") for part in ("value", "more"))

    page.until(lambda: shown() == summary or None)
    (bottom,) = page.browser.script(PLACES, "#verdict figure")
    assert bottom < 900  # the height of a laptop's window


def test_the_memory_bar_is_drawn_to_scale(page: Explorer, run: Run) -> None:
    page.open("#model=llama-3-8b&gpu=rtx-4090")
    answer = run("fit", "llama-3-8b", "--gpu", "rtx-4090", "--format", "json").json
    row = answer["rows"][0]
    widths = {name: wide for name, wide, _ in page.browser.script(PARTS)}
    assert widths["weights"] / sum(widths.values()) == pytest.approx(
        answer["parts"]["weights"] / row["capacity_bytes"], abs=0.005
    )
    assert widths["free"] / sum(widths.values()) == pytest.approx(row["left_bytes"] / row["capacity_bytes"], abs=0.005)
    exact = [one.get_attribute("title") for one in page.browser.all("#verdict .keys li")]
    assert f"{answer['parts']['weights']:,} bytes" in exact


def test_a_part_of_memory_has_one_colour_everywhere(page: Explorer) -> None:
    """In the bar above as in the chart of devices."""
    page.open("#model=llama-3-8b&gpu=rtx-4090&gpu=h100&view=devices")
    above = {name: fill for name, _, fill in page.browser.script(PARTS)}
    chart = PARTS.replace("#verdict figure svg.track", "[data-chart=devices]")
    below = {name: fill for name, _, fill in page.browser.script(chart)}
    assert len(below) >= 4 and {name: above[name] for name in below} == below


def test_every_device_is_there_in_small(page: Explorer) -> None:
    """A click shows its bar; nothing is asked anew."""
    page.open("#model=llama-3-8b")
    assert "rtx-4090" in page.text("#verdict figcaption")  # the smallest that it fits
    assert page.browser.script(PLACES, "#verdict .card")[-1] < 900
    page.click("[data-gpu=rtx-4060]")
    assert "rtx-4060" in page.text("#verdict figcaption") and "too little" in page.text("#verdict figcaption")
    assert page.one("[data-gpu=rtx-4060]").get_attribute("aria-pressed") == "true"
    assert page.browser.script("return document.activeElement.dataset.gpu") == "rtx-4060"


def test_peak_memory_is_that_of_the_verdict(page: Explorer, run: Run) -> None:
    """On the GPU that was chosen, run as people run it there."""
    page.open("#model=llama-3-8b&gpu=rtx-4090&view=memory")
    row = run("fit", "llama-3-8b", "--gpu", "rtx-4090", "--format", "json").json["rows"][0]
    page.tile_says("memory", f"{row['required_bytes']:,} bytes")


def groups(page: Explorer, field: str, typed: str = "") -> dict[str, list[str]]:
    """What a field offers, by the names of groups."""
    page.keys(Keys.ESCAPE)  # a list that is open lies above the next field
    page.click(f"#{field}")
    if typed:
        page.one(f"#{field}").send_keys(Keys.CONTROL, "a")
        page.one(f"#{field}").send_keys(typed)
    return dict(page.browser.script(GROUPS, f"{field}-list"))


def test_devices_are_listed_by_maker_and_kind(page: Explorer) -> None:
    page.open("#model=gpt2")
    listed = groups(page, "gpu-search")
    assert next(iter(listed)) == "common devices" and "h100" in listed["common devices"]
    assert "mi300x" in listed["AMD datacenter"] and "rtx-3090" in listed["NVIDIA consumer"]
    found = groups(page, "gpu-search", "mi3")
    assert set(found) == {"AMD datacenter"} and "mi300x" in found["AMD datacenter"]


def test_models_are_listed_by_kind(page: Explorer) -> None:
    page.open("#model=gpt2")
    listed = groups(page, "model-preset")
    assert "gpt2" in listed["decoder transformer"] and "bert-base" in listed["encoder transformer"]
    names = listed["decoder transformer"]
    assert names.index("llama-2-7b") < names.index("llama-2-13b")


def test_formats_say_how_many_bits_they_take(page: Explorer) -> None:
    page.open("#model=llama-3-8b")
    listed = groups(page, "setting-weights")
    assert "bf16" in listed["number formats"] and "q8_0" in listed["GGUF"]
    assert page.text("#setting-weights-list [data-value=q8_0]").split("\n") == [
        "q8_0",
        "negligible accuracy loss; an fp16 scale for each 32",
        f"{8 + 16 / 32} bits",
    ]
    assert "vllm" in groups(page, "setting-engine")["read any files"]


def test_a_mistake_is_told_once(page: Explorer) -> None:
    """At its field on a wide page; above the answers on a narrow one, where fields are folded away."""
    fact = "expected a whole number such as"
    page.open("#model=gpt2")
    page.fill("#setting-batch", "many")
    page.say("#setting-batch-message", fact)
    page.say("#trouble", "--batch")
    assert page.browser.script(OCCURS, fact) == 1
    page.click("#trouble button")
    assert page.focused() == "setting-batch"
    page.browser.size(390, 844)
    page.say("#trouble", fact)
    assert page.browser.script(OCCURS, fact) == 1
    page.click("#settings-part summary")
    page.say("#setting-batch-message", fact)
    assert page.browser.script(OCCURS, fact) == 1


def test_a_device_that_is_unknown_is_told_once(page: Explorer) -> None:
    """Every question that the page asks meets it."""
    page.open("#model=gpt2&gpu=nonsense")
    page.say("#gpu-message", "no device is called nonsense")
    assert page.browser.script(OCCURS, "no device is called nonsense") == 1
    page.click("[aria-label='Remove nonsense']")
    page.until(lambda: page.one("#trouble").get_attribute("hidden"))
    page.tile_says("devices", "of 10 devices")


def test_a_comparison_begins_with_the_model_that_is_nearest(page: Explorer) -> None:
    """Of the same model type, in parameters; never one with the same number."""
    page.open("#model=gpt2")
    page.view("compare")
    page.until(lambda: page.value("#other-preset") == "distilgpt2" or None)  # 82 M; medium has 355
    page.until(lambda: page.table("compare") or None)
    page.open("#model=llama-3.1-70b&view=compare")
    page.until(lambda: page.value("#other-preset") not in ("", "llama-3-70b", "llama-3.3-70b") or None)


def test_an_edited_model_is_compared_with_one_of_its_kind(page: Explorer) -> None:
    page.open("#model=gpt2")
    page.edit("decoder: 12", "decoder: 23")
    page.until(lambda: "202" in page.written("[data-tile=overview]") or None)
    page.view("compare")
    page.until(lambda: page.value("#other-preset") or None)
    assert page.value("#other-preset") in ("gpt2", "gpt2-medium")


@pytest.mark.parametrize("dark", [False, True])
def test_a_wide_table_scrolls_in_itself(page: Explorer, dark: bool) -> None:
    """With the names of its rows in view."""
    page.browser.size(390, 844)
    page.browser.dark(dark)
    page.open("#model=deepseek-v3&view=memory")
    scrolls, from_left, wide = page.browser.script(SCROLLED)
    assert scrolls and from_left == 0 and wide == 390
