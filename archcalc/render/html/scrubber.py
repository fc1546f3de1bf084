"""Memory over a step as pages draw it: with a scrubber, and switches for other options.

data(report)        for the script (timeline.js)
figure(report, …)   the drawing without a script, which has the data packed beside it
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from archcalc.analyze.memory.parts import PARTS
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.memory.timeline import Shared
from archcalc.analyze.memory.what_if import WhatIf
from archcalc.analyze.memory.why_peak import why_peak
from archcalc.core.visible import visible
from archcalc.render.chart.legend import ORDER, ink

LARGEST = 70_000  # bytes of all combinations on a page, of models with many layers that are not alike
TOO_LARGE = (
    '<figcaption class="muted">The explorer has this with switches, which would make the page large.</figcaption>'
)
SCRIPTS = ("timeline_data.js", "timeline_picture.js", "timeline.js")


def data(report: MemoryReport) -> dict[str, Any]:
    """Every combination of switches."""
    assert report.what_if
    return _data(report.what_if.value)


def _data(found: WhatIf) -> dict[str, Any]:
    """What several combinations say is written once."""
    shared = Shared()
    lines = [(places, line.packed(shared) | {"why": why_peak(line, PARTS)}) for places, line in found.lines.items()]
    return {
        "parts": [{"key": part, "label": PARTS[part], "ink": ink(part).name} for part in ORDER],
        "switches": [{"label": one.label, "values": [each.label for each in one.values]} for one in found.switches],
        "asked": found.asked,
        "lines": lines,
        "shared": list(shared),
    }


def figure(report: MemoryReport, drawn: str) -> str:
    """`drawn` stands there until the script has unpacked the data, and where there is no script."""
    assert report.what_if
    found, left_out = report.what_if.value, ""
    packed = _packed(found)
    if len(packed) > LARGEST:
        packed, left_out = _packed(found.alone()), TOO_LARGE
    return f'<figure data-timeline="{packed}">\n<div class="scroll">{drawn}</div>{left_out}</figure>'


def _packed(found: WhatIf) -> str:
    text = visible(json.dumps(_data(found), separators=(",", ":")))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def has_ops(report: MemoryReport) -> bool:
    """Of a list of tensors it is not known what they compute."""
    return report.ops is not None and bool(report.ops.value.ops)
