"""Charts as elements of the page: archcalc's own drawings, in which every text is escaped."""

from __future__ import annotations

import importlib
from typing import Any


def chart(name: str, report: Any) -> dict[str, str]:
    """The chart of that name, by name; none where there is no such drawing."""
    try:
        module = importlib.import_module(f"archcalc.render.chart.{name}")
    except ModuleNotFoundError:
        return {}
    return {name: getattr(module, name)(report).svg(name)}
