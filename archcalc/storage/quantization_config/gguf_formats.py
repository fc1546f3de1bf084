"""The formats of a GGUF file as a spec keeps them: which format each parameter has, and in how many layers.

    quantization: {quant_method: gguf, formats: {decoder.blocks.ffn.down.weight: {Q6_K: 16, Q4_K: 16}, …}}

Bytes follow from that by rule, so that a spec which was taken from a file, and perhaps changed, is counted anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

from archcalc.core.errors import InputError
from archcalc.core.mesh import Plan
from archcalc.spec import paths
from archcalc.storage.checkpoint import Checkpoint
from archcalc.storage.format import Format, Stored, plain
from archcalc.storage.ggml_types import types
from archcalc.storage.named_formats import uniform_format
from archcalc.storage.places import Facts, Place

METHOD = "gguf"
SOURCE = "the GGUF types of the spec's quantization.formats"
SHARES = " (parameters with several types: in the file's proportions)"
TAIL = 3  # names at the end of a path that say what a parameter is, whichever layers it stands in
Shares = Mapping[str, int]  # of each format: in how many layers


@dataclass(frozen=True)
class ByParameter(Checkpoint):
    """Each parameter has its own format; those without one are stored in the spec's precision."""

    formats: Mapping[str, Shares] = field(default_factory=dict)

    @property
    def note(self) -> str:
        return f"the weights are stored as {self.name}"

    def holds(self, place: Place) -> bool:
        return True

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """With another number of layers than in the file, formats have copies in the same proportions as there."""
        path = f"{place.param.owner.path}.{place.param.name}"
        shares = list(_divided(place.copies, self.formats.get(path) or self._by_tail.get(_tail(path)) or {}))
        if not shares:
            return plain(self.rest).total(place, model, plan)
        return sum(ggml(name).total(Place(place.param, copies), model, plan) for name, copies in shares)

    @cached_property
    def _by_tail(self) -> dict[str, Shares]:
        found: dict[str, Counter[str]] = {}
        for path, shares in self.formats.items():
            found.setdefault(_tail(path), Counter()).update(shares)
        return dict(found)


def _tail(path: str) -> str:
    return ".".join(path.split(".")[-TAIL:])


def _divided(copies: int, config: Shares) -> Iterator[tuple[str, int]]:
    """Round to whole copies with the right sum: the remainder of one is carried to the next."""
    whole, before = sum(config.values()), Fraction(0)
    for name, layers in config.items():
        after = before + Fraction(copies * layers, whole)
        yield name, int(after) - int(before)
        before = after


@cache
def ggml(name: str) -> Format:
    """A type of GGML by its name; where rows are no whole blocks, llama.cpp takes another."""
    kind = _types()[name]
    known = name.lower() in paths.presets("formats") and kind["numbers"] > 1
    instead = uniform_format(name).instead if known else None
    quantises = "matrices" if kind["numbers"] > 1 else "everything"
    beside = (Stored(8 * kind["row"], what="of a row", tile=(1, 0)),) if "row" in kind else ()
    return Format(name, (Stored(8 * kind["bytes"], kind["numbers"]), *beside), quantises, instead=instead)


@cache
def _types() -> dict[str, dict[str, Any]]:
    return {kind["name"]: kind for kind in types().values()}


def gguf(config: Mapping[str, Any]) -> Checkpoint:
    """As a spec has it."""
    if "formats" not in config:
        return Checkpoint(METHOD, unknown="quantization.formats, which gives the format of each parameter, is missing")
    formats = {path: _read(path, entry) for path, entry in _fields(config.get("formats"), "formats").items()}
    names = dict.fromkeys(name for shares in formats.values() for name in shares)
    *most, last = sorted(names, key=lambda name: -sum(shares.get(name, 0) for shares in formats.values()))
    source = SOURCE + (SHARES if any(len(shares) > 1 for shares in formats.values()) else "")
    return ByParameter(f"{', '.join(most)} and {last}" if most else last, source=source, formats=formats)


def _fields(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        hint = "write the format of each parameter, such as {decoder.blocks.attention.q.weight: Q4_K}"
        raise InputError(f"{name}: expected fields", hint, fields=[("quantization", "formats"), ("quantization",)])
    return value


def _read(path: str, entry: Any) -> Shares:
    shares = {entry: 1} if isinstance(entry, str) else _fields(entry, path)
    for name, layers in shares.items():
        place = [("quantization", "formats", path), ("quantization",)]
        if name not in _types():
            raise InputError(f"GGML has no type {name}", "write it as llama.cpp does: Q4_K, Q8_0, fp32", fields=place)
        if isinstance(layers, bool) or not isinstance(layers, int) or layers < 1:
            raise InputError(f"expected the number of layers in {name}", fields=place)
    return shares


def written(formats: Mapping[str, Shares]) -> dict[str, Any]:
    """The field of a spec."""
    entries = {path: next(iter(shares)) if len(shares) == 1 else dict(shares) for path, shares in formats.items()}
    return {"quant_method": METHOD, "formats": entries}
