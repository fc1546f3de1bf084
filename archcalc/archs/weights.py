"""Tensors as a file of weights lists them: a tree made of their names, with no forward pass behind it.

`model.layers.0.mlp.up.weight` stands in the module `model.layers.0.mlp.up`. Numbered neighbours that hold the same are
one module with a repeat, so that eighty layers are read as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import prod
from typing import Any, Literal

from archcalc.count import Count, product
from archcalc.errors import InputError
from archcalc.ir import Dim, Module, Param, axes
from archcalc.spec import ModelSpec
from archcalc.workload import Longest, Workload

_WRITTEN = re.compile(r"([A-Za-z0-9_]+) \[((?:[0-9]{1,18}(?:, ?[0-9]{1,18}){0,63})?)\](?: ([0-9]{1,18}) bytes)?")


class Spec(ModelSpec):
    """`tensors`: what each is called, and `bf16 [4096, 14336]`, with its bytes where they do not follow from that."""

    family: Literal["weights"] = "weights"
    tensors: dict[str, str]


@dataclass(frozen=True)
class Stored:
    """One tensor: how its numbers are kept, and how many bytes that takes."""

    format: str
    shape: tuple[int, ...]
    bytes: int

    @property
    def elements(self) -> int:
        return _elements(self.shape)

    def written(self) -> str:
        """As the spec has it."""
        usual = BITS.get(self.format)
        said = f"{self.format} [{', '.join(map(str, self.shape))}]"
        return said if usual and self.bytes == _bytes(self.shape, usual) else f"{said} {self.bytes} bytes"


LARGEST = 2**63  # numbers or bytes of a tensor: offsets in files are 64 bits wide
BITS = {
    **dict.fromkeys(("fp8", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp8_e8m0", "bool"), 8),
    **dict.fromkeys(("bf16", "fp16"), 16),
    **{f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "fp4": 4,
    **dict.fromkeys(("fp6_e2m3", "fp6_e3m2"), 6),
    "fp32": 32,
    "fp64": 64,
    "complex64": 64,
}


def _bytes(shape: tuple[int, ...], bits: int) -> int:
    return -(-_elements(shape) * bits // 8)


def _elements(shape: tuple[int, ...]) -> int:
    return prod(shape)


@dataclass(frozen=True)
class Weights:
    """Every tensor by its name."""

    tensors: dict[str, Stored]
    kind: str = ""
    lengths: dict[str, Longest] = field(default_factory=dict)  # nothing is computed, so no length is chosen


def resolve(spec: Spec) -> Weights:
    found = {name: _read(name, said) for name, said in spec.tensors.items()}
    if not any(stored.elements for stored in found.values()):
        held = "its tensors are all empty" if found else "it lists no tensors"
        raise InputError(f"there are no weights to count: {held}", fields=[("tensors",)])
    return Weights(found)


def _read(name: str, said: str) -> Stored:
    match = _WRITTEN.fullmatch(said)
    if not match or not (match[3] or match[1] in BITS):
        hint = "write its format and shape, such as `bf16 [4096, 14336]`"
        raise InputError(f"'{said}' is not a tensor", hint, fields=[("tensors", name), ("tensors",)])
    shape = tuple(int(size) for size in match[2].replace(" ", "").split(",") if size)
    if prod(shape) > LARGEST:
        raise InputError("a tensor this large fits no file", fields=[("tensors", name), ("tensors",)])
    return Stored(match[1], shape, int(match[3]) if match[3] else _bytes(shape, BITS[match[1]]))


def build(weights: Weights, work: Workload) -> Module:
    root = Module("model")
    _grow(root, _tree(weights.tensors))
    return root


Tree = dict[str, Any]  # names to trees, or to a Stored
_NUMBERED = re.compile(r"[0-9]{1,18}")
DEEPEST = 40  # levels of a tree; what a longer name has behind them is one name


def _tree(tensors: dict[str, Stored]) -> Tree:
    tree: Tree = {}
    for name, stored in tensors.items():
        *path, last = name.split(".", DEEPEST)
        inner = tree
        for key in path:
            if isinstance(inner.get(key), Stored):  # `a` and `a.b` are both tensors
                inner[f"{key} (tensor)"] = inner.pop(key)
            inner = inner.setdefault(key, {})
        inner[last if not isinstance(inner.get(last), dict) else f"{last} (tensor)"] = stored
    return tree


def _grow(m: Module, tree: Tree) -> None:
    for name, times, inner in _folded(tree):
        if isinstance(inner, Stored):
            m.params[name] = _param(m, name, inner)
        else:
            _grow(m.child(name, repeat=Count(times)), inner)


def _folded(tree: Tree) -> Iterator[tuple[str, int, Any]]:
    """Numbered neighbours that are equal as one, called by the first and the last number."""
    ordered = sorted(tree.items(), key=lambda item: _number(item[0]))
    for _, same in groupby(ordered, key=lambda item: _alike(*item)):
        names = [name for name, _ in same]
        yield (names[0] if len(names) == 1 else f"{names[0]}–{names[-1]}"), len(names), tree[names[0]]


def _number(name: str) -> int:
    """Numbered modules behind the others, in the order of their numbers."""
    return int(name) if _NUMBERED.fullmatch(name) else -1


def _alike(name: str, inner: Any) -> tuple[str, Any]:
    """Equal for what may be folded: numbered modules that hold the same."""
    return ("", _frozen(inner)) if _number(name) >= 0 and isinstance(inner, dict) else (name, None)


def _frozen(tree: Any) -> Any:
    return tuple((name, _frozen(inner)) for name, inner in tree.items()) if isinstance(tree, dict) else tree


def _param(m: Module, name: str, stored: Stored) -> Param:
    """Its axes have no names in a file; a matrix has rows and columns."""
    names = ["rows", "columns"] if len(stored.shape) == 2 else [f"axis_{n}" for n in range(len(stored.shape))]
    dims = [Dim.of(label, size) for label, size in zip(names, stored.shape, strict=True)]
    return Param(
        axes(*dims),
        "param",
        name=name,
        owner=m,
        elements=product(dim.size for dim in dims),
        stored=stored.bytes,
    )
