"""AMD's cards, by amd-smi, which takes the place of rocm-smi: a list of cards, or one under `gpu_data`."""

from __future__ import annotations

from typing import Any

from archcalc.run.device.here.asking import Card, parsed, unreadable

TOOL = "amd-smi"
BYTES = {"MB": 2**20, "MiB": 2**20, "GB": 2**30}  # all are binary there


def cards() -> list[Card]:
    found = parsed(TOOL, "static", "--asic", "--vram", "--json")
    if found is None:
        return []
    listed: Any = found
    if isinstance(found, dict):
        listed = found.get("gpu_data")
    try:
        sizes = [(str(card["asic"]["market_name"]), card["vram"]["size"]) for card in listed]
        return [Card(name, int(size["value"]) * BYTES[size["unit"]]) for name, size in sizes]
    except (LookupError, TypeError, ValueError):
        raise unreadable(TOOL, str(found)) from None
