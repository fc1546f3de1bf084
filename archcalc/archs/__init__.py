"""Families of architectures, one file or folder each.

A family gives `Spec` (its fields as people write them), `resolve(spec)` (every value filled in, with the `lengths` a
user may choose) and `build(resolved, workload)`, which records the forward pass and returns its tree.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

from archcalc.core.errors import InputError, did_you_mean

TOLD_BY = {"parts": "parts", "cell": "recurrent"}  # fields that no other family has


def families() -> tuple[str, ...]:
    """Every file or folder here, and in any folder that was added to `archcalc.archs.__path__`."""
    return _listed(tuple(__path__))


@cache
def _listed(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders)))


def family_of(data: Mapping[str, Any]) -> Any:
    """The family that a spec names; else by its fields: parts, a recurrent cell, a list of layers, or a Transformer."""
    if "family" in data:
        return data["family"]
    if isinstance(data.get("layers"), list) and not {"parts", "cell"} & data.keys():
        return "network"
    return next((family for field, family in TOLD_BY.items() if field in data), "transformer")


def family_module(family: Any) -> Any:
    if family not in _listed(tuple(__path__)):
        from archcalc.spec.other_names import family_meant

        known = did_you_mean(str(family), families())
        hint = family_meant(str(family), families()) or known
        raise InputError(f"no family called {family}", hint, fields=[("family",)])
    return importlib.import_module(f"archcalc.archs.{family}")
