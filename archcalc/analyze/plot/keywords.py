"""Python's keywords of a chart: the options of a run, and what is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.run.keywords import Names, PlotKeywords


class ChartKeywords(PlotKeywords, total=False):
    """`--y`, `--by`, `--gpu`, `--log` and `--linear`."""

    y: Names
    by: str | Mapping[str, Any] | None
    gpus: Names
    log: Names
    linear: Names
