"""Reports as HTML: one file, every text a text, and nothing in it that its policy would not let through."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.html_pages import check_self_contained, hashed, policy

import archcalc
from archcalc.render.html.document import packaged
from archcalc.render.html.scrubber import SCRIPTS

if TYPE_CHECKING:
    from conftest import Run, Write

HOSTILE = "a\"'><img src=x onerror=alert(1)></script><script>alert(2)</script><!-- ]]> &amp; \x1b[31m"
SPEC = {"name": HOSTILE, "vocab": 10, "d_model": 8, "heads": 2, "ffn": 8, "decoder": 1}
EVERY = [
    ("params", "textbook", "--explain"),
    ("params", "sentiment-lstm", "--explain"),
    ("shapes", "resnet-18"),
    ("flops", "gpt2"),
    ("memory", "gpt2", "--mode", "train", "--timeline"),
    ("memory", "llama-3-8b"),
    ("fit", "gpt2"),
    ("fit", "llama-3-8b", "--gpu", "h100", "--engine", "vllm"),
    ("fit", "gpt2", "--gpu", "h100", "--table", "weights,context"),
    ("compare", "gpt2", "bert-base"),
    ("gpus",),
    ("gpus", "h100"),
    ("kernel", "textbook"),
    ("identities",),
    ("presets",),
]


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_every_report_is_a_page_of_its_own(run: Run, command: tuple[str, ...]) -> None:
    page = run(*command, "--format", "html")
    assert page.code == 0, page.err
    found = check_self_contained(page.out)
    assert found.of("h1")
    assert found.of("main")
    assert page.out.isascii()  # whatever a terminal's encoding is


def test_figures_and_tables_are_those_of_the_report(run: Run) -> None:
    answer = run("memory", "gpt2", "--mode", "train", "--format", "json").json
    words = check_self_contained(run("memory", "gpt2", "--mode", "train", "--format", "html").out).words
    for part in answer["parts"].values():
        assert not part or f"{part:,}" in words
    assert f"{answer['reserved_bytes']:,}" in words
    assert "--optimizer changes it" in words


@pytest.mark.parametrize(
    ("command", "chart"),
    [
        (("params", "gpt2"), "icicle"),
        (("flops", "gpt2"), "work"),
        (("memory", "gpt2", "--mode", "train", "--timeline"), "timeline"),
        (("memory", "gpt2", "--timeline"), ""),  # nearly the same from end to end
        (("fit", "gpt2"), "devices"),
        (("shapes", "gpt2"), ""),
    ],
)
def test_a_report_with_a_chart_shows_it(run: Run, command: tuple[str, ...], chart: str) -> None:
    found = check_self_contained(run(*command, "--format", "html").out)
    names = [each.get("aria-labelledby", "") for each in found.of("svg")]
    assert any(name.startswith(f"{chart}-title") for name in names) == bool(chart)


def test_the_script_is_there_where_it_has_something_to_do(run: Run) -> None:
    script = hashed(packaged("report.js"))
    assert script in policy(run("params", "gpt2", "--format", "html").out)
    assert "script-src" not in policy(run("shapes", "gpt2", "--format", "html").out)


@pytest.mark.parametrize("command", ["params", "shapes", "flops", "memory", "fit", "report"])
def test_names_from_a_spec_are_text(run: Run, write: Write, command: str) -> None:
    file = write(json.dumps(SPEC), "hostile.yaml")
    if command == "report":
        assert run("report", file, "-o", "page.html").code == 0
        page = Path("page.html").read_text("utf-8")
    else:
        page = run(command, file, "--format", "html").out
    found = check_self_contained(page)
    assert "<img src=x onerror=alert(1)>" in found.words
    assert "\x1b" not in page
    texts = [packaged(name) for name in ("report.js", "diagram.js", *SCRIPTS)]
    rest = "".join(found.raw["script"])
    for text in texts:
        rest = rest.replace(text, "")
    assert not rest.strip()


def test_a_notebook_shows_charts_too() -> None:
    """With the style that they need, and names that no other picture of the page has."""
    model = archcalc.load("gpt2")
    one, two = model.params()._repr_html_(), model.memory(mode="train")._repr_html_()
    for shown in (one, two):
        assert "<svg" in shown
        assert "prefers-color-scheme:dark" in shown
    assert "<svg" not in model.shapes()._repr_html_()
    assert one.partition('aria-labelledby="')[2][:18] != two.partition('aria-labelledby="')[2][:18]
