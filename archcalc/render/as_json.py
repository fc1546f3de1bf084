"""JSON: exact ints, stable keys."""

from __future__ import annotations

import json

from archcalc.report import Report


def render(report: Report, *, width: int) -> str:
    return json.dumps(report.record(), indent=2, ensure_ascii=False)
