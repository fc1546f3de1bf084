"""A worksheet or its key as a page. Each format is one file here, with `render(page)`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from archcalc.exercises.language import SOURCE, language
from archcalc.render.worksheet.page import page

if TYPE_CHECKING:
    from archcalc.exercises.sheet import Sheet


def rendered(sheet: Sheet, format: str, *, key: bool = False, lang: str = SOURCE) -> str:
    """The page for students, or the key: the same questions with their answers and how they are worked out."""
    made = page(sheet, language(lang), key=key)
    text = importlib.import_module(f"archcalc.render.worksheet.{format}").render(made)
    assert isinstance(text, str)
    return text
