"""Renderers: a Report in, text out. Each format is one file, imported on use."""

from __future__ import annotations

import importlib

from archcalc.report.base import Report

FORMATS = ("table", "json", "csv", "markdown")


def render(report: Report, format: str, *, width: int = 80) -> str:
    """The report as text; only `table` cares for the width, and only it may hold colour."""
    module = importlib.import_module(f"archcalc.render.as_{format}")
    text = module.render(report, width=width)
    assert isinstance(text, str)
    return text
