"""Renderers: a Report in, text out. Each format is one file, `as_NAME.py`, found by its name and imported on use."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archcalc.report.base import Report


def formats() -> tuple[str, ...]:
    """Every format there is a file for, the terminal's first."""
    files = [module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("as_")]
    names = (file.removeprefix("as_").replace("_", "-") for file in files)
    return tuple(sorted(names, key=lambda name: (name != "table", name)))


def render(report: Report, format: str, *, width: int = 80, notes: bool = True) -> str:
    """The report as text. A table is as wide as the terminal, may hold colour, and leaves `notes` out that matter less
    where it is not asked for all; every other format has all of them."""
    module = importlib.import_module(f"archcalc.render.as_{format.replace('-', '_')}")
    chosen = {"notes": notes} if format == "table" else {}
    text = module.render(report, width=width, **chosen)
    assert isinstance(text, str)
    return text
