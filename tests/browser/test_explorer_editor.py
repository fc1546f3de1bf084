"""What the explorer's editor offers where: the place of a cursor in YAML, and what the schema says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import Browser

import archcalc.ui

STATIC = Path(archcalc.ui.__file__).parent / "static"
SCHEMA = {
    "properties": {
        "heads": {"type": "integer", "examples": [8], "description": "Attention heads."},
        "norm": {"anyOf": [{"enum": ["layer", "rms"]}, {"$ref": "#/$defs/Norm"}]},
        "layers": {"type": "array", "items": {"$ref": "#/$defs/Layer"}},
    },
    "$defs": {
        "Norm": {"properties": {"place": {"enum": ["pre", "post"]}, "bias": {"type": "boolean"}}},
        "Layer": {"properties": {"conv": {"type": "integer"}, "act": {"enum": ["relu", "gelu"]}}},
    },
}


@pytest.fixture(scope="module")
def modules(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A page with both functions, in one file, since a file may import no other."""
    sources = ((STATIC / "editor" / name).read_text("utf-8") for name in ("place.js", "suggest.js"))
    page = tmp_path_factory.mktemp("page") / "page.html"
    code = "\n".join(sources).replace("export function", "function")
    page.write_text(f"<script>{code}; window.functions = {{ place, suggest }};</script>", "utf-8")
    chromium.open(page)
    yield chromium
    chromium.blank()


def place(browser: Browser, marked: str) -> Any:
    """The place of | in a text."""
    before, after = marked.split("|")
    return browser.script("return functions.place(arguments[0], arguments[1])", before + after, len(before))


@pytest.mark.parametrize(
    ("marked", "path", "is_value", "word"),
    [
        ("he|", [], False, "he"),
        ("heads: 4\nno|", [], False, "no"),
        ("norm:\n  pl|", ["norm"], False, "pl"),
        ("norm:\n  place: p|", ["norm", "place"], True, "p"),
        ("norm:\n  place: pre\nhe|", [], False, "he"),
        ("norm: {pl|", ["norm"], False, "pl"),
        ("norm: {place: p|}", ["norm", "place"], True, "p"),
        ("norm: {place: pre, b|", ["norm"], False, "b"),
        ("norm: {\n  place: pre,\n  b|\n}", ["norm"], False, "b"),
        ("layers:\n  - co|", ["layers", "[]"], False, "co"),
        ("layers:\n- conv: 3\n- a|", ["layers", "[]"], False, "a"),
        ("layers:\n  - conv: 3\n    act: g|", ["layers", "[]", "act"], True, "g"),
        ("layers: [{conv: 3}, {a|", ["layers", "[]"], False, "a"),
        ("# a: {comment\nhe|", [], False, "he"),
        ("name: 'a: {b'\nhe|", [], False, "he"),
        ("heads: |", ["heads"], True, ""),
    ],
)
def test_the_place_of_the_cursor(modules: Browser, marked: str, path: list[str], is_value: bool, word: str) -> None:
    found = place(modules, marked)
    assert (found["path"], found["value"], found["word"]) == (path, is_value, word)


def test_a_comment_is_no_place(modules: Browser) -> None:
    assert place(modules, "heads: 4  # he|") is None


@pytest.mark.parametrize(
    ("marked", "offered"),
    [
        ("|", ["heads", "norm", "layers"]),
        ("n|", ["norm"]),
        ("norm: |", ["layer", "rms"]),
        ("norm: {|", ["place", "bias"]),
        ("norm: {place: po|", ["post"]),
        ("norm: {bias: |", ["true", "false"]),
        ("layers:\n  - |", ["conv", "act"]),
        ("heads: |", ["8"]),
        ("heads: {|", []),
    ],
)
def test_what_could_stand_there(modules: Browser, marked: str, offered: list[str]) -> None:
    code = "return functions.suggest(arguments[0], arguments[1]).map(one => one.text)"
    assert sorted(modules.script(code, SCHEMA, place(modules, marked))) == sorted(offered)


def test_a_name_says_what_it_means(modules: Browser) -> None:
    code = "return functions.suggest(arguments[0], arguments[1])[0].about"
    assert modules.script(code, SCHEMA, place(modules, "he|")) == "Attention heads."
