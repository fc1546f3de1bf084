"""The glossary of dim names is complete, and holds no name that nothing uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import reject
from support import sources
from support.drawn_families import FAMILIES, for_all

import archcalc
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, walk
from archcalc.layers.glossary import DIMS, meaning
from archcalc.spec.paths import presets

WAYS = (("train", "eager"), ("decode", "flash"))


def dims_of(root: Module) -> Iterator[str]:
    """Of every tensor in the tree."""
    for module, _ in walk(root):
        made = [tensor for op in module.ops for tensor in (*op.inputs, op.output, *op.beside.values())]
        for tensor in (*made, *module.params.values(), *module.buffers.values()):
            yield from (dim.name for dim in tensor.dims)


def traced(model: archcalc.Model) -> set[str]:
    """Names of dims in training and, where the model decodes, in a decode step."""
    names: set[str] = set()
    for mode, attention in WAYS:
        try:
            work = model.workload(mode=mode)
            names.update(dims_of(model.build(replace(work, attention=attention))))
        except InputError:  # it makes no tokens, or has no forward pass
            continue
    return names


@cache
def of_presets() -> dict[str, str]:
    """Every name, and a preset that has it."""
    return {name: preset for preset in presets() for name in traced(archcalc.load(preset))}


@cache
def of_drawn_specs() -> dict[str, str]:
    """Every name, and a family of drawn specs that has it."""
    return {name: family for family in FAMILIES for name in _drawn(family)}


def _drawn(family: str) -> set[str]:
    names: set[str] = set()
    specs, number = FAMILIES[family]

    @for_all(number, spec=specs)
    def note(spec: dict[str, Any]) -> None:
        try:
            names.update(traced(archcalc.load(spec)))
        except InputError:  # two options that do not go together
            reject()

    note()
    return names


@cache
def written() -> dict[str, str]:
    """Names that stand as literals where a dim is made, and the file."""
    names: dict[str, str] = {}
    for file in sources.files("layers", "archs"):
        for node in sources.nodes(file):
            if isinstance(node, ast.Call) and _makes_a_dim(node) and isinstance(node.args[0], ast.Constant):
                names[str(node.args[0].value)] = file
    return names


def _makes_a_dim(call: ast.Call) -> bool:
    made = ast.unparse(call.func)
    return bool(call.args) and (made in ("Dim", "Dim.of") or made.endswith(".renamed"))


@pytest.mark.parametrize("names", [written, of_presets, of_drawn_specs], ids=lambda one: one.__name__)
def test_every_dim_is_in_the_glossary(names: Any) -> None:
    """Those that are written, and those that come up in every preset and in drawn specs."""
    assert {name: where for name, where in names().items() if meaning(name) is None} == {}


def test_every_name_in_the_glossary_is_used() -> None:
    """Traced, or written where a file of weights is read, whose axes have no names."""
    used = {*written(), *of_presets(), *of_drawn_specs(), "rows", "columns", "axis"}
    parts = {re.sub(r"_\d+", "", part) for name in used for part in name.replace("2·", "").split("+")}
    assert set(DIMS) - parts == set()


@pytest.mark.parametrize("name", ["kv_src_seq", "input+hidden", "2·input", "frames_1", "joined_2_rows", "axis_0"])
def test_composed_names_are_taken_apart(name: str) -> None:
    """Numbers, prefixes and sums."""
    assert meaning(name)


@pytest.mark.parametrize("name", ["", "sequence", "kv_sequence", "input+nothing", "2·nothing", "nothing_1"])
def test_other_names_mean_nothing(name: str) -> None:
    """A misspelt dim is noticed."""
    assert meaning(name) is None
