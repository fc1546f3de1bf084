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


def render(report: Report, format: str, *, width: int = 80) -> str:
    """The report as text; only `table` cares for the width, and only it may hold colour."""
    module = importlib.import_module(f"archcalc.render.as_{format.replace('-', '_')}")
    text = module.render(report, width=width)
    assert isinstance(text, str)
    return text
