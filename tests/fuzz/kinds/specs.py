"""Specs: shipped presets, mutated as data and as text."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root
from fuzz import bytewise, treewise
from fuzz.case import Case
from fuzz.kinds.shared import examine

ROUGH = 0.5  # of the cases; the others stay close to what is meant


def run(case: Case) -> None:
    name = case.write(case.random.choice(("spec.yaml", "spec.yaml", "spec.json", "spec")), text(case))
    examine(case, name)


def text(case: Case) -> bytes:
    """A spec as someone might have written it."""
    plain = case.random.choice(_presets())
    if case.chance(0.2):
        return bytewise.mutated(plain, case.random)
    tree = treewise.mutated(_read(plain), case.random, gently=not case.chance(ROUGH))
    written = dumped(tree, case.chance(0.3))
    return bytewise.mutated(written, case.random) if case.chance(0.1) else written


def dumped(tree: Any, as_json: bool) -> bytes:
    """YAML has no word for half a surrogate, JSON has."""
    if as_json:
        return json.dumps(tree).encode()
    import yaml

    return str(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)).encode("utf-8", "surrogatepass")


@cache
def _presets() -> list[bytes]:
    files = sorted((data_root() / "models").glob("*.yaml"))
    return [file.read_bytes() for file in [*files, *(data_root() / "starters").glob("*.yaml")]]


@cache
def _read(text: bytes) -> Any:
    from archcalc.spec.yaml_reader import read

    return read(text, "a preset").data
