"""JSON: exact ints, stable keys, and no character that a terminal would obey: JSON has escapes for them."""

from __future__ import annotations

import json

from archcalc.core.visible import UNSEEN
from archcalc.report.base import Report


def render(report: Report, *, width: int) -> str:
    record = {**report.record(), **({"expect": report.expected.record()} if report.expected else {})}
    lines = json.dumps(record, indent=2, ensure_ascii=False).split("\n")  # a break within a text is escaped
    return "\n".join(UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], line) for line in lines)
