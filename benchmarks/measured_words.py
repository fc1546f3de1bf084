"""What the words of a case mean on archcalc's command line, by measured_words.yaml."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from measured_units import Inexpressible

WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("measured_words.yaml").read_text("utf-8"))


def option(kind: str, said: Any) -> str | None:
    """The value of the first line whose pattern is in what was said; None where there is none, or no option for it."""
    found = _matching(kind, "" if said is None else str(said))
    if found is None:
        return None
    line, match = found
    if "refuse" in line:
        raise Inexpressible(line["refuse"] or f"no option says: {said}")
    return match.expand(line["value"]) if line["value"] else None


def every(kind: str, said: Any) -> list[str]:
    """The values of all lines whose patterns are in what was said."""
    return [line["value"] for line in WORDS[kind] if _pattern(line["says"]).search(str(said or ""))]


def unstored(name: str) -> str:
    """A model's name without what stands in brackets, and without words of how its weights are stored."""
    bare, before = re.sub(r"\s*\(.*", "", name).removesuffix(".gguf"), ""
    while bare != before:
        before, bare = bare, _pattern(WORDS["stored"]).sub("", bare)
    return bare.strip(" ,")


def _matching(kind: str, said: str) -> tuple[dict[str, Any], re.Match[str]] | None:
    for line in WORDS[kind]:
        match = _pattern(line["says"]).search(said)
        if match and not ("unless" in line and _pattern(line["unless"]).search(said)):
            return line, match
    return None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)
