"""Refuses parts that a spec defines and no block uses."""

from __future__ import annotations

from typing import Any

from archcalc.archs.transformer.parts import SLOTS
from archcalc.archs.transformer.spec import Spec
from archcalc.core.errors import InputError, Path


def check_all_used(spec: Spec, used: set[str]) -> None:
    scopes: list[tuple[Path, Any]] = [((), spec), (("encoder",), spec.encoder), (("decoder",), spec.decoder)]
    for path, scope in scopes:
        if scope is None:
            continue
        described = {slot for slot in SLOTS if slot in scope.model_fields_set} | set(scope.variants)
        spare = described - used
        for word in sorted(spare and spare - _liked(used, scope.variants)):
            places: list[Path] = [(*path, "variants", word), (*path, word)]
            hint = "name it in a pattern, or take it out"
            raise InputError(f"no block has a part called {word}", hint, fields=places)


def _liked(used: set[str], variants: dict[str, dict[str, Any]]) -> set[str]:
    """The variants that those in use are derived from."""
    found: set[str] = set()
    waiting = [word for word in variants if word in used]
    while waiting:
        like = str(variants[waiting.pop()].get("like"))
        if like in variants and like not in found:
            waiting.append(like)
        found.add(like)
    return found
