"""The cards of this machine, for `--gpu here`: asked of the tools that come with their drivers, and only when asked.

    cards_here()        Here("2xrtx-3090", "--gpu here: 2 × NVIDIA GeForce RTX 3090, by nvidia-smi")

A source is a file of this folder with a function that returns the cards it finds, none where its tool is not installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from archcalc.run.device import finding
from archcalc.run.device.here import amd_smi, apple, cpu, nvidia_smi, rocm_smi
from archcalc.run.device.here.asking import Card
from archcalc.spec.units import binary_bytes

SOURCES: dict[str, Callable[[], Sequence[Card]]] = {
    "nvidia-smi": nvidia_smi.cards,
    "rocm-smi": rocm_smi.cards,
    "amd-smi": amd_smi.cards,
    "system_profiler": apple.cards,
}


class Here(NamedTuple):
    """The devices as `--gpu` takes them, and the sentence that says which they are and who said so."""

    name: str
    said: str


def cards_here() -> Here:
    """The cards of the first source that finds any, else the CPU with its RAM."""
    return _found(os.environ.get("PATH", ""))


@cache
def _found(_path: str) -> Here:
    """Asked once, unless other tools are found."""
    for source, cards in SOURCES.items():
        found = cards()
        if found:
            alike = [(card, len(list(group))) for card, group in groupby(found)]
            names = "+".join(_several(count, "x", _named(card)) for card, count in alike)
            words = " + ".join(_several(count, " × ", card.name) for card, count in alike)
            return Here(names, f"--gpu here: {words}, by {source}")
    return Here("cpu", f"--gpu here: {cpu.words()}; no GPU was found by {', '.join(SOURCES)}")


def _several(count: int, times: str, name: str) -> str:
    return f"{count}{times}{name}" if count > 1 else name


def _named(card: Card) -> str:
    """The name of its file, by its memory where it has variants; a card that is not listed is a size of memory."""
    sized = [f"{card.name} {round(card.bytes / 2**30)}GB"] if card.bytes else []
    for text in (*sized, card.name):
        hits = finding.found(text)
        only = hits.names[0] if len(hits.names) == 1 else hits.usual
        if only:
            return only
    return binary_bytes(card.bytes).replace(" ", "") if card.bytes else card.name
