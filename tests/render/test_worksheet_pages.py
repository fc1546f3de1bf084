"""Pages of worksheets: the LaTeX compiles and fits, the HTML needs no other file, and no name is taken for markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from support.filled_sheets import sheet_of
from support.latex_engine import compiled, needs_engine, needs_xepersian

import archcalc
from archcalc.exercises.sheet import Sheet, worksheet
from archcalc.render.worksheet import rendered

if TYPE_CHECKING:
    from pathlib import Path

EVERY = ("params", "shapes", "flops", "memory")
HOSTILE = r"50 % of $x_1 & #3 {\input{/etc/passwd}} <script>alert(1)</script> | *b* ⟨Γ⟩ c̃ 中文"


def hostile() -> Sheet:
    spec = {"name": HOSTILE, "vocab": 10, "d_model": 8, "heads": 2, "ffn": 8, "decoder": 1}
    return worksheet(archcalc.load(spec), questions=EVERY)


@needs_engine
@pytest.mark.parametrize("key", [False, True])
@pytest.mark.parametrize("model", ["textbook", "luong", "deepseek-v2-lite"])
def test_the_latex_compiles_and_fits_the_page(model: str, key: bool, tmp_path: Path) -> None:
    sheet = worksheet(archcalc.load(model), seed=1, questions=EVERY)
    compiled(rendered(sheet, "latex", key=key), tmp_path)


@needs_xepersian
@pytest.mark.parametrize("key", [False, True])
@pytest.mark.parametrize("model", ["textbook", "luong"])
def test_persian_compiles_by_xelatex(model: str, key: bool, tmp_path: Path) -> None:
    sheet = worksheet(archcalc.load(model), seed=1, questions=EVERY)
    compiled(rendered(sheet, "latex", key=key, lang="fa"), tmp_path, "xelatex")


@needs_xepersian
def test_a_name_is_no_latex_in_persian_either(tmp_path: Path) -> None:
    assert "passwd" not in compiled(rendered(hostile(), "latex", lang="fa"), tmp_path, "xelatex")


@needs_engine
def test_layers_of_a_network_compile_too(tmp_path: Path) -> None:
    compiled(rendered(sheet_of("convolutions", *EVERY, seed=1), "latex", key=True), tmp_path)


@needs_engine
def test_a_name_is_no_latex(tmp_path: Path) -> None:
    assert "passwd" not in compiled(rendered(hostile(), "latex"), tmp_path)


def test_a_name_is_no_html() -> None:
    page = rendered(hostile(), "html")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_html_page_needs_no_other_file() -> None:
    page = rendered(worksheet(archcalc.load("textbook")), "html")
    assert not re.search(r"(src|href)=|url\(|@import|https?:", page)


@pytest.mark.parametrize("format", ["markdown", "latex", "html"])
def test_the_page_has_every_blank_and_the_key_every_answer(format: str) -> None:
    sheet = worksheet(archcalc.load("textbook"), questions=["params"])
    page, key = rendered(sheet, format), rendered(sheet, format, key=True)
    for blank in sheet.blanks:
        assert re.search(rf"\b{blank.number}\b", page)
        assert f"{blank.answer:,}" in key
    assert f"{201_466_160:,}" not in page


def test_a_working_of_several_lines_stays_so() -> None:
    spec = {"family": "network", "input": [1, 32, 32], "layers": [{"conv": 6, "kernel": 5}, "flatten", {"linear": 10}]}
    sheet = worksheet(archcalc.load(spec), questions=["shapes"])
    assert "width_1<br>⌊(32 + 2·0 − 5)/1⌋ + 1 = 28" in rendered(sheet, "html", key=True)
    assert "width_1<br>⌊(32 + 2·0 − 5)/1⌋ + 1 = 28" in rendered(sheet, "markdown", key=True)
