"""Formats of weights and caches, and their true size: the scales that a format keeps beside its numbers are counted.

Plain number formats are in `archcalc.precision`; every other format is a file of `presets/formats` that says what is
stored for how many weights. Q4_K keeps 4 bits for each, 12 bits of scales for every 32 and 32 bits for every 256: 4.5.
A mixture, such as Q4_K_M, keeps some layers in another format.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from archcalc import data
from archcalc.document import read
from archcalc.errors import InputError, did_you_mean
from archcalc.ir import Param
from archcalc.precision import BYTES

PLAIN = tuple(name for name in BYTES if name != "fp8")


@dataclass(frozen=True)
class Stored:
    """So many bits for every so many weights."""

    per: int
    bits: int
    what: str = ""


@dataclass(frozen=True)
class Other:
    """Layers that a mixture keeps in another format: all copies of them, or some (`in`)."""

    layers: tuple[str, ...]
    format: Format
    place: str = "all"

    def number(self, copies: int, grouped: bool) -> int:
        """How many of so many layers in a row: `first 2`, `first 1/8`, or `more`, as llama.cpp spends more bits on the
        first and the last eighth and on every third between. `grouped`: all, where few heads keep keys and values."""
        if self.place == "grouped":
            return copies if grouped else 0
        if self.place == "more":
            eighth = copies // 8
            return sum(i < eighth or i >= 7 * copies // 8 or (i - eighth) % 3 == 2 for i in range(copies))
        if self.place.startswith("first "):
            share = Fraction(self.place.removeprefix("first "))
            return min(copies, int(share) if share >= 1 else int(copies * share))
        return copies


@dataclass(frozen=True)
class Format:
    """`quantises` says which parameters: everything, matrices (tables too), linear (of the blocks), or experts."""

    name: str
    stores: tuple[Stored, ...]
    quantises: str = "everything"
    rest: str = ""  # what the other parameters are kept in; unsaid: as the activations
    source: str = ""
    others: tuple[Other, ...] = ()

    def total(self, param: Param, elements: int, copies: int, *, tied: bool = False) -> int:
        """Bytes of all copies of a parameter of so many elements; `tied` says that it is the head's matrix too."""
        number, left = 0, copies
        for other in self.others:
            if left and any(_is_layer(param, layer, tied) for layer in other.layers):
                some = min(other.number(copies, any(dim.name == "kv_heads" for dim in param.dims)), left)
                number, left = number + some * other.format.bytes_of(elements), left - some
        return number + left * self.bytes_of(elements)

    def bytes_of(self, elements: int) -> int:
        """Of so many weights, begun groups counted whole."""
        bits = sum(-(-elements // stored.per) * stored.bits for stored in self.stores)
        return -(-bits // 8)

    @property
    def bits_per_weight(self) -> Fraction:
        return sum((Fraction(stored.bits, stored.per) for stored in self.stores), Fraction(0))

    @property
    def is_quantised(self) -> bool:
        return self.quantises != "everything"

    def holds(self, param: Param) -> bool:
        """Whether a parameter is kept in this format; one-dimensional ones never are."""
        if self.quantises == "everything":
            return True
        matrix = len(param.axes) > 1
        if self.quantises == "experts":
            return len(param.axes) > 2 and param.dims[0].name == "experts"
        return matrix if self.quantises == "matrices" else matrix and not param.table and param.owner.group != "head"


@cache
def weight_format(name: str, option: str = "--weights") -> Format:
    """A format by its name, whatever its case."""
    wanted = name.lower().replace("-", "_")
    if wanted in PLAIN:
        return Format(wanted, (Stored(1, 8 * BYTES[wanted]),))
    files = data.presets("formats")
    if wanted not in files:
        raise InputError(f"no format called {name}", did_you_mean(wanted, names()), field=option)
    said = read(files[wanted].read_bytes(), f"format {wanted}").data
    if "like" in said:
        others = tuple(
            Other(tuple(other["layers"]), weight_format(other["as"]), other.get("in", "all"))
            for other in said["others"]
        )
        return replace(weight_format(said["like"]), name=said["name"], source=said["source"], others=others)
    stores = tuple(Stored(**stored) for stored in said["stores"])
    return Format(said["name"], stores, said["quantises"], said.get("rest", ""), said["source"])


def _is_layer(param: Param, layer: str, tied: bool) -> bool:
    """`attention.v` is the end of a path; the head is the matrix over the vocabulary, wherever it stands."""
    if layer == "head":
        return param.owner.group == "head" or (tied and param.table == "token")
    return f".{param.owner.path}".endswith(f".{layer}")


def names() -> tuple[str, ...]:
    """Every format there is."""
    return (*PLAIN, *data.presets("formats"))
