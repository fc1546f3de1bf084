"""Formats from wide to narrow, as an engine reads them: presets/ladders.

ladder("llama.cpp").weights         the rungs of weights, widest first
ladder(None, kind="unified").kv     of the engine that such devices mostly run
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from archcalc.spec import paths
from archcalc.spec.data_files import document


@dataclass(frozen=True)
class Rung:
    """One format, its width by name, and what it costs in words and beside other changes."""

    format: str
    bits: int
    cost: int
    price: str


@dataclass(frozen=True)
class Ladder:
    """The formats of some engines."""

    name: str
    engines: tuple[str, ...]
    kinds: tuple[str, ...]  # of devices
    weights: tuple[Rung, ...]
    kv: tuple[Rung, ...]


USUAL = "gguf"  # runs on every kind of device


def ladder(engine: str | None, kind: str | None = None) -> Ladder:
    """Of the engine; without one, of the engines that this kind of device runs, and below them what runs everywhere."""
    known = ladders()
    if engine:
        return next((one for one in known.values() if engine in one.engines), known[USUAL])
    found = next((one for one in known.values() if kind in one.kinds), known[USUAL])
    below = known[USUAL]
    return replace(found, weights=_with(found.weights, below.weights), kv=_with(found.kv, below.kv))


def _with(rungs: tuple[Rung, ...], others: tuple[Rung, ...]) -> tuple[Rung, ...]:
    """And the narrower ones of the others."""
    least = min(one.bits for one in rungs)
    return (*rungs, *(one for one in others if one.bits < least))


@cache
def ladders() -> dict[str, Ladder]:
    """Every ladder, by the name of its file."""
    found = {}
    for name, file in sorted(paths.shipped("ladders").items()):
        data = document(file).data
        rungs = {key: tuple(Rung(**rung) for rung in data[key]) for key in ("weights", "kv")}
        found[name] = Ladder(data["name"], tuple(data["engines"]), tuple(data["kinds"]), **rungs)
    return found
