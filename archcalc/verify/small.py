"""Smaller models of the same structure: a stack cut to its period, and a twin with small sizes that can be run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from archcalc.archs import family_module
from archcalc.model import Model
from archcalc.spec.node import Node
from archcalc.spec.workload import Longest, Workload

TWICE = 2

SIZES = {  # of the twin, where the model's own are larger
    "d_model": 32,
    "vocab": 96,
    "width": 24,
    "heads": 4,
    "head_dim": 8,
    "length": 64,
    "buckets": 8,
    "classes": 10,
    "window": 4,
    "chunk": 4,
    "inner": 16,
    "state": 4,
    "dt_rank": 6,
    "experts": 6,
    "top": 3,
    "latent": 16,
    "q_rank": 16,
    "kv_rank": 8,
    "nope": 8,
    "rope": 4,
    "value": 8,
    "v_dim": 12,
}
SAME_AS = {"head_vocab": "vocab"}  # fields whose sizes are those of another field
PATCH = 4
WIDTHS = frozenset({"hidden", "embedding", "projection", "input", "width"})  # of recurrent nets
SMALLEST = 16


def shortened(model: Model) -> Model:
    """Every line and period of a stack at most twice, so that its first run and a later one are there.

    A decoder that starts from its encoder's states has a layer for each of them, so that none may be left out.
    """
    if getattr(model.resolved, "handed_over", False):
        return model
    return replace(model, resolved=_mapped(model.resolved, _at_most_twice))


def _at_most_twice(name: str, value: int) -> int:
    return min(value, TWICE) if name in ("times", "calls") else value


def twin(model: Model) -> Model:
    """The same structure with small sizes: unequal ones stay unequal, and heads keep their groups."""
    if model.spec.family == "recurrent":
        return shortened(_in_proportion(model))
    short = shortened(model).resolved
    return replace(model, resolved=_consistent(short, _mapped(short, _Smaller())))


def within(model: Model, work: Workload) -> Workload:
    """What is asked for, as far as the model can read it: an image has one length, a table of positions an end."""
    limits = model.resolved.lengths
    return replace(work, lengths={name: _at_most(limits[name], length) for name, length in work.lengths.items()})


def _at_most(limit: Longest, length: int) -> int:
    if limit.length is None or not (limit.fixed or limit.hard):
        return length
    return limit.length if limit.fixed else min(length, limit.length)


def _in_proportion(model: Model) -> Model:
    """Widths of recurrent nets add up, so that all are divided by what divides them all."""
    found: list[int] = []

    def noted(name: str, value: int) -> int:
        found.extend([value] if name in WIDTHS else [])
        return value

    _mapped(model.spec, noted)
    divisor = math.gcd(*found)
    times = max(1, SMALLEST // (max(found, default=1) // max(1, divisor)))

    def smaller(name: str, value: int) -> int:
        return value // divisor * times if name in WIDTHS else min(value, SIZES.get(name, value))

    spec = _mapped(model.spec, smaller)
    return replace(model, spec=spec, resolved=family_module(spec.family).resolve(spec))


class _Smaller:
    """A small size for each that a field has, told apart from other sizes of that field."""

    def __init__(self) -> None:
        self.seen: dict[str, dict[int, int]] = {}

    def __call__(self, name: str, value: int) -> int:
        name = SAME_AS.get(name, name)
        if name not in SIZES or value <= SIZES[name]:
            return value
        known = self.seen.setdefault(name, {})
        return known.setdefault(value, SIZES[name] + 8 * len(known))


def _mapped(value: Any, change: Callable[[str, int], int], name: str = "") -> Any:
    """A copy with every int changed that stands in a field."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return change(name, value)
    if isinstance(value, Node):
        said = {key: _mapped(getattr(value, key), change, key) for key in value.model_fields_set}
        return value.model_copy(update=said)
    if is_dataclass(value) and not isinstance(value, type):
        said = {field.name: _mapped(getattr(value, field.name), change, field.name) for field in fields(value)}
        return replace(value, **said)
    if isinstance(value, dict):
        return {key: _mapped(inner, change, name) for key, inner in value.items()}
    return tuple(_mapped(inner, change, name) for inner in value) if isinstance(value, tuple) else value


def _consistent(old: Any, new: Any) -> Any:
    """Mend what follows from other sizes: key-value heads from heads, the rotated share of a head, values as wide
    as keys or not, an image."""
    if isinstance(new, tuple):
        return tuple(map(_consistent, old, new))
    if isinstance(new, dict):
        return {name: _consistent(old[name], value) for name, value in new.items()}
    if not is_dataclass(new) or isinstance(new, type):
        return new
    said = {field.name: _consistent(getattr(old, field.name), getattr(new, field.name)) for field in fields(new)}
    if "kv_heads" in said:
        said["kv_heads"] = said["heads"] if old.kv_heads == old.heads else 1 if old.kv_heads == 1 else TWICE
    if said.get("routed"):
        said["heads"] = said["kv_heads"] * said["routed"].top
    for name in ("groups", "norm_groups"):  # of the heads or channels of a Mamba-2
        if "heads" in said and name in said:
            said[name] = said["heads"] if getattr(old, name) == old.heads else min(getattr(old, name), TWICE)
    if "inner" in said and "heads" in said:
        whole = math.lcm(said["heads"], said.get("norm_groups", 1))
        said["inner"] = -(-said["inner"] // whole) * whole
    if "parts" in said and "d_model" in said:
        said["parts"] = {word: _divided(part, said["d_model"]) for word, part in said["parts"].items()}
    if "v_heads" in said:
        said["v_heads"] = said["heads"] * min(old.v_heads // old.heads, TWICE)
    if said.get("rotated"):
        said["rotated"] = said["head_dim"] if old.rotated == old.head_dim else said["head_dim"] // 2
    if said.get("qk_norm") and old.qk_norm.fits(old.heads, old.kv_heads, old.head_dim):
        said["qk_norm"] = replace(said["qk_norm"], width=())  # as wide as what it norms
    if said.get("v_dim") and said.get("head_dim"):
        said["v_dim"] = said["head_dim"] if old.v_dim == old.head_dim else _unlike(said["v_dim"], said["head_dim"])
    if {"nope", "rope", "value"} <= set(said):
        keys = said["nope"] + said["rope"]
        said["value"] = keys if old.value == old.nope + old.rope else _unlike(said["value"], keys)
    if "experts" in said:
        said["top"] = min(old.top, said["experts"])
    if "tables" in said and old.tables.width == old.d_model:
        said["tables"] = replace(said["tables"], width=said["d_model"])
    if said.get("image") and said.get("patch"):
        said["patch"] = (PATCH, PATCH)
        said["image"] = tuple(PATCH * min(TWICE, side // cut) for side, cut in zip(old.image, old.patch, strict=True))
    return replace(new, **said)


def _unlike(size: int, other: int) -> int:
    return size if size != other else size + TWICE


def _divided(part: Any, channels: int) -> Any:
    """A convolution by groups of channels."""
    return replace(part, groups=math.gcd(part.groups, channels)) if hasattr(part, "groups") else part
