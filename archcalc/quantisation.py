"""Formats of weights and caches, and their true size: the scales that a format keeps beside its numbers are counted.

Plain number formats are in `archcalc.precision`; every other format is a file of `presets/formats` that says what is
stored for how many weights. Q4_K keeps 4 bits for each, 12 bits of scales for every 32 and 32 bits for every 256: 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass
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
class Format:
    """`quantises` says which parameters: everything, matrices (tables too), or linear (those of the blocks alone)."""

    name: str
    stores: tuple[Stored, ...]
    quantises: str = "everything"
    rest: str = ""  # what the other parameters are kept in; unsaid: as the activations
    source: str = ""

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
    stores = tuple(Stored(**stored) for stored in said["stores"])
    return Format(said["name"], stores, said["quantises"], said.get("rest", ""), said["source"])


def names() -> tuple[str, ...]:
    """Every format there is."""
    return (*PLAIN, *data.presets("formats"))
