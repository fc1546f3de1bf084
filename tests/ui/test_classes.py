"""Class names of drawings and of the pages around them do not meet: neither style sheet changes what the other drew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import archcalc.ui
from archcalc.render import html
from archcalc.ui.ask import ask

STATIC = Path(archcalc.ui.__file__).parent / "static"
SHEETS = [*sorted((STATIC / "styles").glob("*.css")), *sorted(Path(html.__file__).parent.glob("*.css"))]
QUESTION = {"source": {"preset": "textbook"}, "settings": {"mode": "train"}, "wide": 800, "gpus": ["h100"]}
CURVES = {"sources": [{"preset": "gpt2"}], "x": "batch=1..8", "y": ["memory"], "by": "seq=64,128"}


def drawings() -> list[str]:
    """Every kind of drawing that a page takes in."""
    asked = [{"ask": name, **QUESTION, **CURVES, "helps": False} for name in ("exact", "memory", "fit", "plot")]
    return [svg for question in asked for svg in ask(question)["charts"].values()]


def selectors(css: str) -> list[str]:
    bare = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return [one.strip() for found in re.findall(r"([^{}]+)\{", bare) for one in found.split(",") if "@" not in one]


def classes(selector: str) -> set[str]:
    return set(re.findall(r"\.([\w-]+)", selector))


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_no_style_of_a_page_is_about_a_class_of_a_drawing(path: Path) -> None:
    """Unless it names an element that no drawing has: td.muted."""
    drawn = {name for svg in drawings() for said in re.findall(r'class="([^"]*)"', svg) for name in said.split()}
    assert {"ink", "archcalc-diagram"} <= drawn
    last = [re.split(r"[\s>+~]+", selector)[-1] for selector in selectors(path.read_text("utf-8"))]
    assert [one for one in last if classes(one) & drawn and not re.match(r"(p|td|th|span|div)\.", one)] == []


def test_the_style_of_a_drawing_stays_inside_it() -> None:
    """Every rule begins with the class of the drawing itself."""
    css = " ".join([*re.findall(r"<style>([^<]*)</style>", " ".join(drawings())), ask({"ask": "catalog"})["style"]])
    assert [one for one in selectors(css) if not re.match(r"\.archcalc-(chart|diagram)\b", one)] == []
