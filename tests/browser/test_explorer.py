"""The explorer in a real browser, with the real server behind it: by clicking, by typing, by dropping files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys
from support.explorer import Explorer

Run = Callable[..., Any]  # the fixtures of tests/conftest.py
Write = Callable[..., str]
COMMANDS = {  # by view
    "overview": "params",
    "diagram": "diagram",
    "shapes": "shapes",
    "flops": "flops",
    "memory": "memory",
    "timeline": "memory",
    "devices": "fit",
    "curves": "plot",
    "compare": "compare",
}
FILLS = "return [...document.querySelectorAll('.archcalc-chart [class^=f-]')].map(one => getComputedStyle(one).fill)"
HOSTILE = '<img src=x onerror="document.title=1">'


def test_the_page_begins_with_the_textbook(page: Explorer, run: Run) -> None:
    page.open()
    total = run("params", "textbook", "--format", "json").json["total"]
    page.tile_says("overview", f"{total:,}")
    assert page.text("h1") == "textbook Transformer"
    assert "encoder: 12" in page.value("#model-spec")


def test_every_figure_is_that_of_the_command_line(page: Explorer, run: Run) -> None:
    page.open("#model=gpt2&batch=4&seq=512")
    sizes = ("--batch", "4", "--seq", "512")
    flops = run("flops", "gpt2", "--mode", "infer", *sizes).out.splitlines()
    memory = run("memory", "gpt2", *sizes, "--format", "json").json
    assert page.tile("flops") in flops
    page.tile_says("memory", f"{memory['total_bytes']:,} bytes")


def test_a_preset_is_chosen_by_typing(page: Explorer) -> None:
    page.open()
    page.choose("vit-b-16")
    page.say("h1", "ViT-B/16")
    page.until(lambda: "patches" in page.value("#model-spec") or None)
    assert page.value("#model-preset") == "vit-b-16"


def test_an_edit_changes_the_count(page: Explorer, run: Run) -> None:
    page.open()
    page.edit("encoder: 12", "encoder: 6")
    total = run("params", "textbook", "--set", "encoder=6", "--format", "json").json["total"]
    page.tile_says("overview", f"{total:,}")
    assert page.value("#model-preset") == "textbook.yaml"


def test_an_edit_that_is_undone_is_the_preset_again(page: Explorer) -> None:
    page.open()
    page.edit("encoder: 12", "encoder: 6")
    page.until(lambda: page.value("#model-preset") == "textbook.yaml" or None)
    page.edit("encoder: 6", "encoder: 12")
    page.until(lambda: page.value("#model-preset") == "textbook" or None)


def test_mistakes_stand_at_their_lines(page: Explorer) -> None:
    """And the last numbers without a mistake stay, in grey."""
    page.open()
    before = page.tile("overview")
    page.edit("heads: 4", "heads: four")
    page.say("#model-spec-mistakes", "line 7")
    page.say("#model-spec-mistakes", "expected a whole number")
    assert page.one(".numbers .wrong").text == "7"
    assert page.one("#model-spec").get_attribute("aria-invalid") == "true"
    assert page.tile("overview") == before
    assert "stale" in str(page.one("[data-tile=overview]").get_attribute("class"))
    page.edit("heads: four", "heads: 4")
    page.until(lambda: not page.browser.all(".numbers .wrong") or None)


def test_names_and_values_are_completed(page: Explorer) -> None:
    page.open()
    page.edit("norm: {place: post}\n", "norm: {pla")
    page.say("[role=option][aria-selected=true]", "place")
    page.keys(Keys.ENTER)
    page.say("[role=option][aria-selected=true]", "post")
    page.keys(Keys.ARROW_DOWN, Keys.ENTER, "}", Keys.ENTER)
    written = re.search(r"^norm: .*$", page.value("#model-spec"), re.MULTILINE)
    assert written and re.fullmatch(r"norm: \{place: (pre|sandwich|both|\w+)\}", written.group())
    assert page.browser.all(".suggestion-box:not([hidden])") == []


def test_the_batch_slider_changes_memory(page: Explorer, run: Run) -> None:
    page.open("#model=gpt2")
    page.one("#setting-batch-slider").send_keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.value("#setting-batch") == "4"
    needed = run("memory", "gpt2", "--batch", "4", "--format", "json").json["total_bytes"]
    page.tile_says("memory", f"{needed:,} bytes")


def test_any_exact_number_can_be_typed(page: Explorer, run: Run) -> None:
    page.open("#model=gpt2")
    page.fill("#setting-seq", "777")
    needed = run("memory", "gpt2", "--seq", "777", "--format", "json").json["total_bytes"]
    page.tile_says("memory", f"{needed:,} bytes")


def test_a_wrong_setting_says_so_at_its_field(page: Explorer) -> None:
    page.open("#model=gpt2")
    page.fill("#setting-batch", "many")
    page.say("#setting-batch-message", "expected")
    assert page.one("#setting-batch").get_attribute("aria-invalid") == "true"
    page.fill("#setting-batch", "2")
    page.until(lambda: page.one("#setting-batch-message").get_attribute("hidden"))


def test_training_has_its_own_settings(page: Explorer, run: Run) -> None:
    page.open("#model=gpt2")
    page.click("label:has(#mode-train)")
    page.fill("#setting-optimizer", "sgd")
    page.keys(Keys.ENTER)
    answer = run("memory", "gpt2", "--mode", "train", "--optimizer", "sgd", columns=400).out.splitlines()[1]
    page.settle()
    page.until(lambda: page.tile("memory") == answer.split(" · ")[0] or None)


def test_devices_are_added_and_removed(page: Explorer) -> None:
    page.open("#model=llama-3-8b&view=devices")
    page.click("#gpu-search")
    page.one("#gpu-search").send_keys("rtx-4090", Keys.ENTER)
    page.tile_says("devices", "fits rtx-4090")
    page.settle()
    assert "rtx-4090" in page.text("#verdict figcaption")
    assert not page.one("[data-table=devices]").is_displayed()  # there is nothing to compare
    page.click("[aria-label='Remove rtx-4090']")
    page.tile_says("devices", "of 10 devices")
    page.until(lambda: len(page.table("devices")) == 10 or None)


def test_a_remedy_is_applied_by_a_click(page: Explorer) -> None:
    page.open("#model=llama-3-8b&gpu=rtx-3060&view=devices")
    assert page.tile("devices").startswith("does not fit")
    remedy = page.one("[data-table] button.option")
    name, value = remedy.text.removeprefix("--").split(" ", 1)
    remedy.click()
    page.until(lambda: page.value(f"#setting-{name}") == value or None)
    page.until(lambda: page.tile("devices").startswith("fits") or None)


def test_the_icicle_opens_and_says_how_a_number_is_worked_out(page: Explorer) -> None:
    """By mouse and by keyboard, also after another model was drawn."""
    page.open("#model=gpt2")
    page.edit("decoder: 12", "decoder: 3")
    page.say("[data-zoom] .detail", f"{3 * 7_087_872 + 2 * 768:,}")
    page.settle()  # an answer that is still to come draws it anew, closed
    page.click("[data-zoom] [data-path=decoder] rect")
    page.say("[data-zoom] .detail", "3 × 7,087,872")
    page.say("[data-zoom] .crumbs [aria-current]", "decoder")
    page.keys(Keys.ESCAPE)
    page.say("[data-zoom] .crumbs [aria-current]", "GPT-2 small")


def test_the_working_is_shown_where_it_is_wanted(page: Explorer) -> None:
    page.open("#model=gpt2")
    assert not page.one("[data-table=params] tr.working").is_displayed()
    page.click("#working-params-")
    assert "50257 × 768" in page.text("[data-table=params]")


def test_every_chart_has_its_colours(page: Explorer) -> None:
    page.open("#model=gpt2&gpu=rtx-3090")
    for view in ("overview", "flops", "memory", "devices", "curves"):
        page.view(view)
        fills = page.until(lambda: page.browser.script(FILLS) or None)
        assert "rgb(0, 0, 0)" not in fills


def test_curves_are_drawn_through_the_points_of_the_command_line(page: Explorer, run: Run) -> None:
    page.open("#model=gpt2&view=curves&x=seq%3D256,512&batch=2&gpu=rtx-3090")
    page.until(lambda: page.browser.all("[data-chart=curves] svg") or None)
    shown = [cell for row in page.table("points") for cell in row]
    for seq in ("256", "512"):
        needed = run("memory", "gpt2", "--batch", "2", "--seq", seq, "--format", "json").json["total_bytes"]
        assert f"{needed / 2**30:.2f} GiB" in shown


def test_two_models_side_by_side(page: Explorer, run: Run) -> None:
    page.open("#model=gpt2&with=gpt2-medium&view=compare")
    page.until(lambda: page.table("compare") or None)
    expected = run("compare", "gpt2", "gpt2-medium", "--format", "json").json
    first = page.table("compare")[0]
    assert first[1:3] == [f"{model['total']:,}" for model in expected["models"]]


def test_a_link_restores_the_view(page: Explorer) -> None:
    """With an edited spec, which the link holds."""
    page.open("#model=gpt2&batch=3&gpu=rtx-3090&view=memory")
    page.edit("decoder: 12", "decoder: 5")
    page.until(lambda: "spec=" in page.browser.driver.current_url or None)
    page.settle()
    seen = [page.tile(view) for view in ("overview", "memory", "devices")]
    spec, link = page.value("#model-spec"), page.browser.driver.current_url
    page.open("#" + link.split("#")[1])
    page.until(lambda: [page.tile(view) for view in ("overview", "memory", "devices")] == seen or None)
    assert page.value("#model-spec") == spec
    assert page.one("[data-view=memory]").get_attribute("aria-current") == "page"
    assert page.value("#setting-batch") == "3"


def test_the_back_button_goes_back(page: Explorer) -> None:
    page.open("#model=gpt2")
    page.view("memory")
    page.choose("textbook")
    page.say("h1", "textbook")
    page.browser.driver.back()
    page.say("h1", "GPT-2")
    page.until(lambda: page.value("#model-preset") == "gpt2" or None)
    assert page.one("[data-view=memory]").get_attribute("aria-current") == "page"
    page.browser.driver.back()
    page.until(lambda: page.one("[data-view=overview]").get_attribute("aria-current"))
    page.browser.driver.forward()
    page.until(lambda: page.one("[data-view=memory]").get_attribute("aria-current"))


def copied(page: Explorer, command: str) -> str:
    """The line that is said to be copied."""
    page.click("#copy-command")
    return page.until(lambda: re.search(rf"archcalc {command} .*", page.text("#toast"))).group()


def test_every_view_has_a_command_that_runs(page: Explorer, run: Run) -> None:
    page.open("#model=gpt2&with=textbook&batch=2&gpu=rtx-3090")
    for view, command in COMMANDS.items():
        page.view(view)
        program, *arguments = shlex.split(copied(page, command))
        assert (program, run(*arguments).code) == ("archcalc", 0)


def test_a_hostile_link_is_shown_as_text(page: Explorer) -> None:
    page.open("#model=%3Cimg%20src%3Dx%3E&gpu=%3Cscript%3E&view=devices&engine=%3Cb%3E")
    page.say("#model-spec-mistakes", "<img src=x>")
    assert page.browser.all("img, #gpus script, #run b") == []


def test_the_page_works_by_keyboard_alone(page: Explorer) -> None:
    """Skip to the answers; choose a model; edit it; go to a view."""
    page.open()
    page.keys(Keys.TAB)
    assert page.focused() == "skip"
    page.keys(Keys.ENTER)
    assert page.focused() == "title"
    page.browser.script("document.querySelector('#model-preset').focus()")
    page.keys("gpt2-medium", Keys.ENTER)
    page.say("h1", "GPT-2 medium")
    page.keys(Keys.TAB)
    assert page.focused() == "gpu-search"
    page.keys(Keys.TAB)
    assert page.focused() == "model-spec"
    page.keys(Keys.TAB, Keys.ARROW_RIGHT)  # out of the editor, and from inference on to decoding
    page.say("#run", "Context")
    page.browser.script("document.querySelector('[data-view=flops]').focus()")
    page.keys(Keys.ENTER)
    page.until(lambda: page.one("[data-view=flops]").get_attribute("aria-current"))


def test_an_assumption_leads_to_its_setting(page: Explorer) -> None:
    page.open("#model=llama-3-8b&view=memory")
    page.click("#notes button.option")
    assert page.focused().startswith("setting-")


@pytest.mark.parametrize("wide", [1440, 1024, 390])
def test_nothing_is_wider_than_the_page(page: Explorer, wide: int) -> None:
    page.browser.size(wide, 844)
    page.open("#model=deepseek-v3&gpu=h100")
    for view in ("overview", "diagram", "shapes", "flops", "memory", "devices", "curves", "compare"):
        page.view(view)
        assert page.browser.script("return document.documentElement.scrollWidth") == wide


def test_a_model_that_is_refused_does_not_keep_the_verdict_of_the_former(page: Explorer) -> None:
    """Neither above nor in the view; the refusal stands at the option, and above the answers a way there."""
    page.open("#model=gpt2&engine=vllm&gpu=h100&view=devices")
    page.tile_says("devices", "fits")
    page.choose("resnet-50")
    page.say("h1", "ResNet-50")
    page.settle()
    assert page.tile("devices") == "–"
    page.say("#setting-engine-message", "vLLM runs models of the family transformer")
    page.say("#trouble", "--engine")
    assert "fits" not in page.text("#view") + page.text("#summary")
    page.fill("#model-preset", "gpt2")
    page.keys(Keys.ENTER)
    page.tile_says("devices", "fits")


def test_other_gpus_do_not_keep_the_verdict_of_the_former(page: Explorer) -> None:
    page.open("#model=gpt2&engine=vllm&gpu=h100&view=devices")
    page.tile_says("devices", "fits")
    page.browser.script("location.hash = '#model=gpt2&engine=vllm&gpu=gtx-1080-ti&view=devices'")
    page.say("#setting-engine-message", "compute capability")
    assert "fits" not in page.text("#view") + page.text("[data-tile=devices]")


def test_curves_of_the_former_model_are_not_shown_under_the_name_of_the_next(page: Explorer) -> None:
    """Also where nobody looked at them when the model was changed."""
    page.open("#model=gpt2&view=curves")
    page.view("overview")
    page.choose("resnet-50")
    page.say("h1", "ResNet-50")
    page.settle()
    opened = "document.querySelector('#views [data-view=curves]').click();"
    assert "GPT-2" not in str(page.browser.script(opened + "return document.querySelector('#view').innerText"))
    page.settle()
    page.say("#view", "ResNet-50")


def test_an_edit_that_is_refused_does_not_keep_the_verdict_under_another_name(page: Explorer) -> None:
    """The exact figures are those of the text; the verdict is about what it was before, and goes."""
    page.open("#model=gpt2&engine=vllm&gpu=h100&view=devices")
    page.tile_says("devices", "fits")
    page.edit(page.value("#model-spec"), "name: nearest\nfamily: word2vec\nkind: cbow\nvocab: 1000\nembedding: 30\n")
    page.say("h1", "nearest")
    page.settle()
    assert "fits" not in page.text("#view") + page.text("#summary")
