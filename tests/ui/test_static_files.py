"""House rules for the explorer's page: small files that say what they are, and nothing that takes text for markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import archcalc.ui

STATIC = Path(archcalc.ui.__file__).parent / "static"
FILES = sorted(path for path in STATIC.rglob("*") if path.suffix in (".js", ".css", ".html"))
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
COMMENT = {".js": r"// .", ".css": r"/\* .", ".html": r"<!doctype html>\n<!-- ."}
LONGEST = 350  # lines, as of every file of archcalc
AS_MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function"
)


def name(path: Path) -> str:
    return path.relative_to(STATIC).as_posix()


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_file_is_small_and_says_first_what_it_is(path: Path) -> None:
    text = path.read_text("utf-8")
    assert re.match(COMMENT[path.suffix], text)
    assert text.count("\n") <= LONGEST


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_no_script_takes_text_for_markup(path: Path) -> None:
    """But for drawings, which one file parses as XML."""
    text = path.read_text("utf-8")
    assert not AS_MARKUP.search(text)
    assert "DOMParser" not in text or name(path) == "views/chart.js"


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_every_script_is_checked_and_imports_what_there_is(path: Path) -> None:
    text = path.read_text("utf-8")
    imported = re.findall(r'(?:from|import\() ?"(\.[^"]+)"', text)
    assert "\n// @ts-check\n" in text
    assert [other for other in imported if not (path.parent / other).exists()] == []


def test_the_page_allows_its_own_files_alone() -> None:
    page = (STATIC / "index.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy and policy.group(1).startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy.group(1)
    assert re.search(r"<style|style=|<script>|\son\w+=", page) is None
