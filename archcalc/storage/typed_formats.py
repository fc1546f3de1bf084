"""The format that a name means as people type it: `4bit`, `bnb-4bit`, `Q4_K_M.gguf`, `exl2-4.5bpw`.

    meant("w8a8", known)                 int8, and why
    meant("4bit", known, "mlx")          mlx_4bit

The names are data (`presets/typed/formats.yaml`). A name that is no one format is refused, with what is nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from archcalc.core.errors import InputError
from archcalc.spec.data_files import shipped

_SIGNS = re.compile(r"[^a-z0-9]+")
_AVERAGE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s*-?_?(?:bpw|bits? per weight)")
_DIGIT = re.compile(r"\d")


class Meant(NamedTuple):
    """The name of a format, and what is to be said of the choice; nothing where only case and signs differ."""

    format: str
    why: str = ""


class Average(NamedTuple):
    """So many bits per weight, and the format whose conversion aims at that."""

    format: str
    bits: Fraction

    @property
    def name(self) -> str:
        """As --weights takes it."""
        return f"{self.format}_{float(self.bits)}bpw"


def meant(written: str, known: Iterable[str], engine: str = "", *, of: str = "weights") -> Meant | None:
    """Of `weights` or of `caches`; None for a name that nobody has heard of."""
    letters = _letters(written)
    same = next((name for name in known if _letters(name) == letters), None)
    if same:
        return Meant(same)
    habits = shipped("typed", "formats")
    own = habits["engines"].get(engine.partition("@")[0].lower(), {}) if of == "weights" else {}
    found = next((meaning for word, meaning in own.items() if _letters(word) == letters), None)
    if found:
        return Meant(found, f"what {engine} calls so")
    hits = (one for one in habits[of] if letters in map(_letters, one["names"]))
    listed = next((Meant(one["means"], one["why"]) for one in hits), None)
    if listed or of != "weights":
        return listed
    bits = average(written)
    if bits:
        return Meant(bits.name, average_rule(bits.format)["why"])
    for one in habits["refused"]:
        begins = any(re.match(rf"{_letters(word)}(?:i?q\d|$)", letters) for word in one.get("begins", ()))
        if begins or any(letters == _letters(name) for name in one.get("names", ())):
            near = habits["nearest"].get(next(iter(_DIGIT.findall(written)), ""), "q4_k_m")
            raise InputError(f"{written} {one['fact']}", one["hint"].format(nearest=near), field="--weights")
    return None


def average(name: str) -> Average | None:
    """The bits per weight in a name; refuses widths that a format does not have."""
    found = _AVERAGE.search(name.lower())
    if not found:
        return None
    words = _letters(name[: found.start()] + name[found.end() :]) or "bpw"
    for called, rule in shipped("typed", "formats")["averages"].items():
        bits = Fraction(found[1])
        if words in rule["words"] and not rule["least"] <= bits <= rule["most"]:
            fact = f"{name} is out of range: {rule['title']} has {rule['least']} to {rule['most']} bits per weight"
            raise InputError(fact, f"write {called}-4.0bpw", field="--weights")
        if words in rule["words"]:
            return Average(called, bits)
    return None


def average_rule(format: str) -> dict[str, Any]:
    return dict(shipped("typed", "formats")["averages"][format])


def _letters(name: str) -> str:
    """Without case, signs and words of the file."""
    plain = _SIGNS.sub("", name.lower().removesuffix(".gguf"))
    return plain.removeprefix("gguf") or plain
