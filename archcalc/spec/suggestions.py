"""Suggestions for a name that is neither a preset nor a file: similar preset names, a model of the Hub."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from archcalc.spec.preset_names import trained

_HUB = re.compile(r"[\w.-]+/[\w.-]+")  # owner/name


def hint(name: str, presets: Iterable[str]) -> str:
    """`did you mean llama-3-8b?`, and how a model of the Hub is named where it may be one."""
    found = likely(name, presets)
    meant = f"did you mean {' or '.join(found)}? " if found else ""
    if _HUB.fullmatch(name):
        return f"{meant}hf:{name} reads it from the Hub; `archcalc presets` lists what ships"
    return f"{meant}`archcalc presets` lists all; a spec of your own is named by its file"


def likely(name: str, presets: Iterable[str], most: int = 3) -> list[str]:
    """The preset that is spelled so but for case, signs and owner; else those that begin so; else those near it."""
    squeezed = {_squeezed(preset): preset for preset in presets}
    own, tuned = name.rpartition("/")[2], trained()  # without the owner, then without words of how it was trained
    untuned = "-".join(word for word in re.split(r"[-_]", own.lower()) if word not in tuned)
    forms = [_squeezed(form) for form in (name, own, untuned)]
    for form in filter(None, forms):
        if form in squeezed:
            return [squeezed[form]]
    for form in filter(None, forms):
        begins = [other for other in squeezed if other.startswith(form)]
        if begins:
            return [squeezed[other] for other in sorted(begins, key=lambda other: (len(other), other))[:most]]
    return [squeezed[other] for other in difflib.get_close_matches(forms[-1], squeezed, most, cutoff=0.6)]


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
