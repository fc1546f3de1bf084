"""How a family of architectures becomes a part: a file here for each, `of_transformer.py`, with

seen(given)                        what it reads as it reads it, such as several vectors as one sequence
fields(written, given, is_output)  the fields that the part would have as a model of its own
read(fields, given)                the resolved model, of these fields and the flows that come in
at(resolved, given)                the same where flows of other lengths come in
flow(resolved, given)              what it gives out
decodes(resolved)                  whether it runs for each token by itself, behind those before it
run(resolved, m, given, work)      records its forward pass
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Protocol

from archcalc.archs import family_of as of_fields
from archcalc.archs.network.kinds import kinds
from archcalc.archs.parts.flow import Flow, Given, Made, Signal
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.spec.workload import Workload

FAMILIES = ("transformer", "recurrent", "network")


class Adapter(Protocol):
    def seen(self, given: Given[Any]) -> Given[Any]: ...

    def fields(self, written: dict[str, Any], given: Given[Flow], is_output: bool) -> dict[str, Any]: ...

    def read(self, fields: dict[str, Any], given: Given[Flow]) -> Any: ...

    def at(self, resolved: Any, given: Given[Flow]) -> Any: ...

    def flow(self, resolved: Any, given: Given[Flow]) -> Flow: ...

    def decodes(self, resolved: Any) -> bool: ...

    def run(self, resolved: Any, m: Module, given: Given[Signal], work: Workload) -> Made: ...


def adapter(family: str) -> Adapter:
    found: Any = importlib.import_module(f"archcalc.archs.parts.of_{family}")
    return found  # type: ignore[no-any-return]


def family_of(written: Mapping[str, Any]) -> str:
    """As the part says; else by its fields: a list of layers, or a single one; a recurrent cell; blocks."""
    said = written.get("family")
    if said is not None and said not in FAMILIES:
        hint = f"use {', '.join(FAMILIES)}"
        raise InputError(f"a part cannot be of the family {said}", hint, fields=[("family",)])
    has_blocks = "encoder" in written or "decoder" in written
    if not (said or has_blocks or "cell" in written or kinds().keys().isdisjoint(written)):
        return "network"
    return str(of_fields(written))
