"""What stands on the page of a worksheet, and on that of its key, in the order of reading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcalc.core.visible import visible
from archcalc.exercises.language import Language
from archcalc.exercises.sheet import sizes_of

if TYPE_CHECKING:
    from archcalc.exercises.sheet import Section, Sheet

_NAME = re.compile(r"[^\W\d]\w*")

Names = frozenset[str]  # of sizes, as the model's dims are called
Cells = tuple[str, ...]  # a cell may have several lines


@dataclass(frozen=True)
class Grid:
    """A table: `roomy` where people write into it."""

    heads: Cells
    rows: tuple[Cells, ...]
    roomy: bool = False


@dataclass(frozen=True)
class Part:
    title: str
    task: str
    grid: Grid


@dataclass(frozen=True)
class Page:
    language: Language
    kind: str  # Worksheet, Key
    title: str
    described: str
    givens: Grid
    conventions: tuple[str, ...]
    parts: tuple[Part, ...]
    to_sign: bool  # lines for a name and a date


def page(sheet: Sheet, language: Language, *, key: bool) -> Page:
    """For students, or the key."""
    names = frozenset(name for size in sizes_of(sheet.model.build()) for name in _NAME.findall(size))
    kinds = [(section.question, _grid(section, language, names, key=key)) for section in sheet.sections]
    given = (map(visible, one) for one in sheet.given)
    rows = tuple(
        (language.code_piece(name), language.value(value), language.meaning(told)) for name, value, told in given
    )
    sizes = (f"{language.label(name)} {language.code_piece(f'{size:,}')}" for name, size in sheet.sizes.items())
    family = language.label(visible(sheet.model.kind))
    return Page(
        language=language,
        kind=language.text("key" if key else "worksheet"),
        title=language.code_piece(visible(sheet.title)),
        described=language.text("described", family=family, sizes=language.text("comma").join(sizes)),
        givens=Grid(tuple(map(language.text, ("given", "value", "meaning"))), rows),
        conventions=tuple(language.note(visible(one)) for one in sheet.conventions),
        parts=tuple(Part(language.title(asked), language.task(asked), blanks) for asked, blanks in kinds),
        to_sign=not key,
    )


def _grid(section: Section, language: Language, names: Names, *, key: bool) -> Grid:
    """In the key worked out by the names of the sizes, where that says more than the numbers, and in numbers; names of
    layers are English."""
    asked: Cells = ("figure", "working", "answer")
    if section.question == "shapes" and not key:  # which need no working
        asked = ("figure", "answer")
    rows: list[Cells] = []
    for one in section.blanks:
        named = language.code_piece(one.number), language.label(visible(one.label))
        if not key:
            rows.append((*named, *[""] * (len(asked) - 1)))
            continue
        answer = f"{one.answer:,}" if isinstance(one.answer, int) else " × ".join(map(str, one.answer))
        lines, words = one.working.split("\n"), one.working
        if one.step:
            words = one.step.count.worked(names=True)
        if words != one.working and (language.is_source or names.issuperset(_NAME.findall(words))):
            lines = [words, f"= {one.working}"]
        working = "\n".join(language.code_piece(visible(line)) for line in lines)
        rows.append((*named, working, language.code_piece(answer)))
    return Grid(("", *map(language.text, asked)), tuple(rows), roomy=not key)
