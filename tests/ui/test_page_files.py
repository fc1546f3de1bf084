"""The files of the page: archcalc's own alone, each of a kind that is served, none fetched from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from archcalc.ui.pages import FOLDER, KINDS, SHARED, files

ROOT = Path(__file__).parents[2]
FOREIGN = {".wasm", ".whl", ".zip", ".tgz", ".gz", ".map", ".mjs", ".so"}  # what a built site is made of besides


def test_nothing_of_others_lies_among_the_sources() -> None:
    found = [file for folder in ("archcalc", "tools", "tests", "docs") for file in (ROOT / folder).rglob("*")]
    assert [file for file in found if file.suffix in FOREIGN or "node_modules" in file.parts] == []


def test_every_file_of_the_page_is_served() -> None:
    """And the script that it shares with reports."""
    assert {file for file in FOLDER.rglob("*") if file.is_file()} | {*SHARED} == set(files().values())


@pytest.mark.parametrize("path", sorted(files()))
def test_a_file_of_the_page_names_no_other_host(path: str) -> None:
    """But for the name of SVG's elements."""
    named = re.findall(r"https?://[\w./-]+", files()[path].read_text("utf-8"))
    assert set(named) <= {"http://www.w3.org/2000/svg"}
    assert files()[path].suffix in KINDS
