"""Charts as elements of the page: archcalc's own drawings, in which every text is escaped."""

from __future__ import annotations

import importlib
from typing import Any


def chart(name: str, report: Any) -> dict[str, str]:
    """The drawing of that name; its ids begin with the name, so that a page may hold several."""
    module = importlib.import_module(f"archcalc.render.chart.{name}")
    return {name: getattr(module, name)(report).svg(name)}
