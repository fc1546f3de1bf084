"""The earlier names of a run."""

from __future__ import annotations

from archcalc.run.resolve import resolve as case
from archcalc.run.resolved import Run as Case

__all__ = ["Case", "case"]
