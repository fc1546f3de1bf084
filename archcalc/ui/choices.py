"""What fields offer, in groups and with a word on each: formats with their bits, engines with what they reserve.

Everything is read off the files that the names stand for: presets/formats, presets/engines, presets/ladders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from archcalc.core.visible import visible
from archcalc.run.engine.catalog import engine
from archcalc.run.ladders import ladders
from archcalc.spec.option import Option
from archcalc.storage.format import Format, Stored
from archcalc.storage.named_formats import PLAIN, weight_format
from archcalc.storage.weight_kinds import kind_of_format

Entry = dict[str, str]
NUMBERS = "number formats"
POOLS = {  # how an engine's KV cache gets its memory, as EngineRules says it
    "none": "takes what requests need",
    "share": "fills a share of the GPU",
    "static": "fills a share of what is free before the model is loaded",
    "free": "fills a share of what is free, with room for a step",
    "loaded": "fills a share of what is free once the model is loaded",
}


def entry(value: str, title: str = "", aside: str = "", group: str = "") -> Entry:
    """One line of a list: what is typed, what it is, a figure, and the heading above it."""
    return {"value": value, "title": visible(title), "aside": aside, "group": group}


def known(name: str, one: Option) -> list[Entry]:
    """The values of an option that can be listed; those of a group stand together."""
    values = one.values() if one.values else ()
    return EXPLAINED.get(name, _plain)(values)


def _plain(values: Iterable[str]) -> list[Entry]:
    return [entry(value) for value in values]


def formats(values: Iterable[str]) -> list[Entry]:
    """Number formats, then kinds by how many formats they have; in each the widest first."""
    found = [(value, weight_format(value), _kind(value)) for value in values]
    sizes = {kind: sum(one == kind for *_, one in found) for *_, kind in found}
    found.sort(key=lambda each: (each[2] != NUMBERS, -sizes[each[2]], each[2], -each[1].bits_per_weight, each[0]))
    return [entry(value, _makeup(value, made), f"{float(made.bits_per_weight):.3g} bits", kind)
            for value, made, kind in found]  # fmt: skip


def _kind(value: str) -> str:
    return NUMBERS if value in PLAIN else kind_of_format(value).upper()


def _makeup(value: str, made: Format) -> str:
    """`negligible accuracy loss; an fp16 scale for each 32`."""
    others = ", ".join(dict.fromkeys(one.format.name for one in made.others))
    scales = ", ".join(f"{one.what} {_reach(one)}" for one in made.stores[1:] if one.what)
    name = "" if made.name.lower() == value else made.name
    return "; ".join(filter(None, [_prices().get(value, ""), name, f"mixed with {others}" if others else scales]))


def _reach(stored: Stored) -> str:
    """Of how many weights."""
    if stored.tile is None:
        return f"for each {stored.per}"
    rows, columns = stored.tile
    if not rows:
        return "for each matrix"
    size = columns if rows == 1 else f"{rows} × {columns}"
    return f"for each {size}" if columns else "for each row"


@cache
def _prices() -> dict[str, str]:
    """What a format costs in accuracy, where a ladder says so."""
    return {rung.format: rung.price for one in ladders().values() for rung in one.weights}


def engines(values: Iterable[str]) -> list[Entry]:
    """By the files that they read."""
    found = [(value, engine(value)) for value in values]
    found.sort(key=lambda each: (each[1].weight_files, each[0]))
    return [entry(value, POOLS[rules.pool], rules.version or "", f"read {rules.weight_files} files")
            for value, rules in found]  # fmt: skip


EXPLAINED: dict[str, Callable[[Iterable[str]], list[Entry]]] = {
    "weights": formats,
    "kv_dtype": formats,
    "engine": engines,
}
