"""Languages of worksheets: every file has every text, and nothing but code stays in English."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.archs import families, family_module
from archcalc.exercises.language import SOURCE, known, language
from archcalc.exercises.sheet import NOT_GIVEN, worksheet
from archcalc.loading import from_file
from archcalc.render.worksheet import rendered
from archcalc.render.worksheet.page import Page, page
from archcalc.spec import paths
from archcalc.spec.node import Node

if TYPE_CHECKING:
    from conftest import Run

OTHERS = [code for code in known() if code != SOURCE]
EVERY = ("params", "shapes", "flops", "memory")
SPECS = {**paths.presets(), **{f"starter {name}": file for name, file in paths.presets("starters").items()}}
PIECE = re.compile("⟦[^⟧]*⟧|`[^`]*`")
FORMATS = ("markdown", "latex", "html")


def texts(value: Any, path: str = "") -> dict[str, str]:
    """Every text of a part of a file, by its path."""
    if not isinstance(value, dict):
        return {path: str(value)}
    return {key: text for name, inner in value.items() for key, text in texts(inner, f"{path}.{name}").items()}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("part", ["page", "tasks"])
def test_every_language_has_every_text_and_its_braces(code: str, part: str) -> None:
    ours, theirs = texts(language(SOURCE).data[part]), texts(language(code).data[part])
    assert ours.keys() == theirs.keys()
    assert {key: placeholders(text) for key, text in ours.items()} == {
        key: placeholders(text) for key, text in theirs.items()
    }
    assert all(theirs.values())


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("part", ["patterns", "notes"])
def test_patterns_say_all_that_they_read(code: str, part: str) -> None:
    for english, said in language(code).data[part]:
        assert placeholders(english) == placeholders(said), english


@pytest.mark.parametrize("code", OTHERS)
def test_marks_are_balanced_and_no_text_is_english(code: str) -> None:
    data = language(code).data
    said = [*texts({name: data[name] for name in ("page", "tasks", "terms", "meanings")}).values()]
    said += [pair[1] for name in ("patterns", "notes") for pair in data[name]]
    for text in said:
        assert text.count("⟦") == text.count("⟧")
        assert not re.search("[A-Za-z]", re.sub(r"\{\w\w*\}", "", PIECE.sub("", text))), text


def meanings(node: Any, seen: set[type]) -> Iterator[str]:
    """The sentences of all fields that a sheet may show."""
    for inner in typing.get_args(node):
        yield from meanings(inner, seen)
    if isinstance(node, type) and issubclass(node, Node) and node not in seen:
        seen.add(node)
        for name, info in node.model_fields.items():
            if name not in NOT_GIVEN:
                yield info.description or ""
                yield from meanings(info.annotation, seen)


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("family", [name for name in families() if name != "weights"])
def test_every_field_has_its_meaning(code: str, family: str) -> None:
    said = language(code)
    assert [text for text in meanings(family_module(family).Spec, set()) if text and not said.meaning(text)] == []


def english_in(page: Page) -> list[str]:
    """Latin letters outside of what is marked as code."""
    grids = [page.givens, *(part.grid for part in page.parts)]
    cells = [cell for grid in grids for row in (grid.heads, *grid.rows) for cell in row]
    shown = [page.kind, page.described, *page.conventions, *cells]
    shown += [text for part in page.parts for text in (part.title, part.task)]
    return [text for text in shown if re.search("[A-Za-z]", PIECE.sub("", text))]


@pytest.mark.wide
@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", SPECS)
def test_no_english_is_left_on_a_sheet(code: str, name: str) -> None:
    model, said = from_file(paths.plain(SPECS[name])), language(code)
    asked = EVERY if model.stored is None else EVERY[:3]
    sheet = worksheet(model, questions=asked)
    labels = [blank.label for blank in sheet.blanks]
    assert [label for label in labels if said.label(label) == f"⟦{label}⟧" and re.search("[a-z]{3}", label)] == []
    assert [note for note in sheet.conventions if said.note(note) == f"⟦{note}⟧"] == []
    for each in (page(sheet, said, key=False), page(sheet, said, key=True)):
        assert english_in(each) == []


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_in_persian(run: Run, format: str) -> None:
    found = run("worksheet", "lenet-5", "--lang", "fa", "--format", format)
    assert found.code == 0 and "برگهٔ تمرین" in found.out and "\\u2066" not in found.out
    assert "Worksheet" not in found.out


def test_html_reads_from_right_to_left_and_formulas_do_not() -> None:
    page = rendered(worksheet(load("lenet-5")), "html", lang="fa")
    assert '<html lang="fa" dir="rtl">' in page
    assert '<bdi dir="ltr">[1, 32, 32]</bdi>' in page
    assert "⟦" not in page


def test_english_pages_are_marked_by_nothing() -> None:
    for written in FORMATS:
        page = rendered(worksheet(load("lenet-5")), written)
        assert not set("⟦⟧\u2066\u2069\u200c") & set(page)
    assert '<html lang="en">' in rendered(worksheet(load("lenet-5")), "html")


def test_sentences_have_persian_digits_and_formulas_latin_ones() -> None:
    said = language("fa")
    assert said.label("decoder: block, one of 12") == "رمزگشا: بلوک، یکی از ۱۲ تا"
    assert said.label("scores (q·kᵀ)") == "امتیازها (⟦q·kᵀ⟧)"
    assert said.label("my own layer") == "⟦my own layer⟧"  # a name that a user gave


@pytest.mark.parametrize(
    ("english", "persian"),
    [
        ("block: attention norm", "بلوک: نرمال‌سازی توجه"),
        ("local moe2 block", "بلوک توجه محلی و آمیزهٔ خبره‌ها ۲"),
        ("late_local cross ffn block", "بلوک توجه محلی پسین، توجه متقاطع و شبکهٔ پیش‌خور"),
        ("ffn+mamba3 add", "جمع شبکهٔ پیش‌خور + لایهٔ ⟦Mamba⟧ ۳"),
        ("my own block", "⟦my own block⟧"),
        ("W·x+b", "⟦W·x+b⟧"),
    ],
)
def test_names_that_no_preset_has_are_put_together(english: str, persian: str) -> None:
    """From words that are known; what stands around a name stays around it."""
    assert language("fa").label(english) == persian


def test_a_name_cannot_turn_the_direction() -> None:
    """Of a model: marks of ours and Unicode's are shown, and not obeyed."""
    spec = {"name": "a⟧\u202eb", "family": "network", "input": [1, 8, 8], "layers": ["flatten", {"linear": 2}]}
    for written in FORMATS:
        page = rendered(worksheet(load(spec)), written, lang="fa")
        assert "\u202e" not in page and "a⟧" not in page


@pytest.mark.parametrize("said", ["2416", "۲۴۱۶", "۲٬۴۱۶", "۲ ۴۱۶", "۱۶ × (۶ × ۲۵ + ۱)"])
def test_answers_in_persian_digits_are_read(run: Run, tmp_path: Path, said: str) -> None:
    """LeNet-5's second convolution: 16 · (6 · 25 + 1)."""
    answers = run("worksheet", "lenet-5", "--questions", "params", "--answers").out
    file = tmp_path / "ANSWERS.yaml"
    file.write_text(re.sub(r"(?m)^(\s+conv_2):", rf"\1: '{said}'", answers), encoding="utf-8")
    assert "1 of" in run("check", str(file)).out


def test_an_unknown_language_is_refused(run: Run) -> None:
    found = run("worksheet", "--lang", "farsi")
    assert found.code == 2 and "no language is called farsi" in found.err and "fa" in found.err
