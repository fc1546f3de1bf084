"""Tensors as a file of weights lists them: a tree built from their names, without a forward pass.

`model.layers.0.mlp.up.weight` stands in the module `model.layers.0.mlp.up`. Numbered neighbours that hold the same are
one module with a repeat, so that eighty layers are read as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count, product
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Param, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.listed_cache import Kept, keep
from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import Size, as_tuple, field
from archcalc.spec.stored_tensors import LARGEST, Stored, read
from archcalc.spec.workload import Longest, Workload
from archcalc.storage.packed_tensors import PARAMETER, UNKNOWN, Use, uses


class Spec(ModelSpec):
    """`tensors`: what each is called, and `bf16 [4096, 14336]`, with its bytes where they do not follow from that.
    `cache`: what the file tells of it, though not what is computed; `length`: of the longest sequence."""

    is_computed: ClassVar[bool] = False
    family: Literal["weights"] = field(
        "weights", "A list of tensors, as a file of weights holds them.", example="weights"
    )
    tensors: dict[str, str] = field(
        ..., "Every tensor: its name, then number format and shape.", example={"lm_head.weight": "bf16 [32000, 4096]"}
    )
    cache: Annotated[tuple[Kept, ...], BeforeValidator(as_tuple)] = field(
        (),
        "What is known of the cache: what some layers keep of a sequence.",
        example={"layers": 32, "heads": 8, "k_dim": 128, "v_dim": 128},
    )
    length: Size | None = field(None, "The longest sequence.", example=4096, unset="unknown")


@dataclass(frozen=True)
class Weights:
    """Every tensor by its name."""

    tensors: dict[str, Stored]
    used: dict[str, Use]
    kind: str = ""
    lengths: dict[str, Longest] = dataclass_field(default_factory=dict)  # chosen only where a cache grows with it
    cache: tuple[Kept, ...] = ()


def resolve(spec: Spec) -> Weights:
    found: dict[str, Stored] = {}
    for name, said in spec.tensors.items():
        stored = read(said)
        if stored is None:
            hint = "write its format and shape, such as `bf16 [4096, 14336]`"
            raise InputError(f"'{said}' is not a tensor", hint, fields=[("tensors", name), ("tensors",)])
        if max(stored.elements, stored.weights or 0) > LARGEST:
            raise InputError("a tensor this large fits no file", fields=[("tensors", name), ("tensors",)])
        found[name] = stored
    if not any(stored.elements for stored in found.values()):
        held = "its tensors are all empty" if found else "the file lists no tensors"
        raise InputError(f"there are no weights to count: {held}", fields=[("tensors",)])
    used = uses(found)
    if not any(use.weights for use in used.values()):
        fact = "there are no weights to count: its tensors are all buffers, or scales of quantised weights"
        raise InputError(fact, fields=[("tensors",)])
    lengths = {"seq": Longest(spec.length)} if spec.cache else {}
    return Weights(found, used, lengths=lengths, cache=spec.cache)


def build(weights: Weights, work: Workload) -> Module:
    root, used = Module("model"), weights.used
    _grow(root, _tree({name: Leaf(stored, used[name]) for name, stored in weights.tensors.items()}))
    unknown = {name: use.weights for name, use in used.items() if use.role == UNKNOWN}
    if unknown:
        text = (
            f"not exact: {sum(unknown.values()):,} numbers are counted as they are stored, such as those of"
            f" {next(iter(unknown))}: names and shapes do not show how many weights each of them contains"
        )
        root.words.doubts.append(Assumption(Topic.EXACTNESS, text))
    keep(root, weights.cache, work)
    return root


@dataclass(frozen=True)
class Leaf:
    """A tensor and its role."""

    stored: Stored
    use: Use


Tree = dict[str, Any]  # names to trees, or to a Leaf
_NUMBERED = re.compile(r"[0-9]{1,18}")
DEEPEST = 40  # levels of a tree; what a longer name has behind them is one name


def _tree(tensors: dict[str, Leaf]) -> Tree:
    tree: Tree = {}
    for name, leaf in tensors.items():
        *path, last = name.split(".", DEEPEST)
        inner = tree
        for key in path:
            if isinstance(inner.get(key), Leaf):  # `a` and `a.b` are both tensors
                inner[f"{key} (tensor)"] = inner.pop(key)
            inner = inner.setdefault(key, {})
        inner[last if not isinstance(inner.get(last), dict) else f"{last} (tensor)"] = leaf
    return tree


def _grow(m: Module, tree: Tree) -> None:
    for name, times, inner in _folded(tree):
        if isinstance(inner, Leaf) and inner.use.role in (PARAMETER, UNKNOWN):
            m.params[name] = _param(m, name, inner)
        elif isinstance(inner, Leaf):
            m.buffers[name] = Tensor(axes(*_dims(inner.stored)), inner.use.role, stored=inner.stored.bytes)
        else:
            _grow(m.child(name, repeat=Count(times)), inner)


def _folded(tree: Tree) -> Iterator[tuple[str, int, Any]]:
    """Folds equal numbered neighbours into one, named by the first and the last number."""
    ordered = sorted(tree.items(), key=lambda item: _number(item[0]))
    for _, same in groupby(ordered, key=lambda item: _alike(*item)):
        names = [name for name, _ in same]
        yield (names[0] if len(names) == 1 else f"{names[0]}–{names[-1]}"), len(names), tree[names[0]]


def _number(name: str) -> int:
    """Numbered modules after the others, in numeric order."""
    return int(name) if _NUMBERED.fullmatch(name) else -1


def _alike(name: str, inner: Any) -> tuple[str, Any]:
    """A key that is equal for modules that can be folded: numbered, with the same content."""
    return ("", _frozen(inner)) if _number(name) >= 0 and isinstance(inner, dict) else (name, None)


def _frozen(tree: Any) -> Any:
    return tuple((name, _frozen(inner)) for name, inner in tree.items()) if isinstance(tree, dict) else tree


def _param(m: Module, name: str, leaf: Leaf) -> Param:
    """As it is stored; a packed one has more elements than numbers."""
    dims = _dims(leaf.stored)
    elements = product(dim.size for dim in dims)
    times, rest = divmod(leaf.use.weights, max(1, int(elements)))
    if leaf.use.weights != elements:
        elements = Count(leaf.use.weights) if rest else Count(times) * elements
    role = Role.STORED if len(dims) == 2 and name == "weight" else Role.OTHER
    stored = leaf.stored.bytes
    return Param(axes(*dims), "param", name=name, owner=m, elements=elements, weight_role=role, stored=stored)


def _dims(stored: Stored) -> list[Dim]:
    """Axes have no names in a file; a matrix has rows and columns."""
    names = ["rows", "columns"] if len(stored.shape) == 2 else [f"axis_{n}" for n in range(len(stored.shape))]
    return [Dim.of(label, size) for label, size in zip(names, stored.shape, strict=True)]
