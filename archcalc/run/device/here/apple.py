"""Apple's chips, by system_profiler: `{"SPHardwareDataType": [{"chip_type": "Apple M3 Max", …}]}`."""

from __future__ import annotations

from archcalc.run.device.here.asking import Card, parsed, unreadable
from archcalc.spec.units import parse_rated

TOOL = "system_profiler"


def cards() -> list[Card]:
    """One; none on a Mac with a processor of Intel, whose memory no GPU shares."""
    found = parsed(TOOL, "SPHardwareDataType", "-json")
    if found is None:
        return []
    try:
        facts = found["SPHardwareDataType"][0]
        size = parse_rated(facts["physical_memory"])
    except (LookupError, TypeError, ValueError, AttributeError):
        raise unreadable(TOOL, str(found)) from None
    if "chip_type" not in facts:
        return []
    return [Card(facts["chip_type"], size.bytes if size else 0)]
