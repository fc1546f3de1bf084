"""AMD's cards, by rocm-smi: `{"card0": {"Card series": "AMD Instinct MI300X", "VRAM Total Memory (B)": "206"}}`."""

from __future__ import annotations

from archcalc.run.device.here.asking import Card, parsed, unreadable

TOOL = "rocm-smi"
NAMES = ("card series", "card model", "device name")  # the first that is a name and no number, in small letters
MEMORY = "vram total memory (b)"


def cards() -> list[Card]:
    found = parsed(TOOL, "--showproductname", "--showmeminfo", "vram", "--json")
    if not isinstance(found, dict):
        return []
    listed = [facts for name, facts in found.items() if name.startswith("card")]
    try:
        return [_card({key.lower(): str(value) for key, value in facts.items()}) for facts in listed]
    except (AttributeError, LookupError, ValueError):
        raise unreadable(TOOL, str(found)) from None


def _card(facts: dict[str, str]) -> Card:
    """Raises LookupError without a name, ValueError where the memory is no number."""
    names = [facts[name] for name in NAMES if name in facts]
    worded = [name for name in names if not name.startswith("0x") and name != "N/A"]
    return Card(worded[0], int(facts[MEMORY]))
