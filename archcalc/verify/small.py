"""Smaller models of the same structure: a stack cut to its period, and one with small sizes that can run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from archcalc.archs import family_module
from archcalc.core.small import TWICE, Small
from archcalc.model import Model
from archcalc.spec.media import Media
from archcalc.spec.node import Node
from archcalc.spec.workload import Workload

SIZES = {  # of the twin, where the model's own are larger
    "d_model": 32,
    "vocab": 96,
    "width": 24,
    "heads": 4,
    "head_dim": 8,
    "length": 64,
    "buckets": 8,
    "distance": 3,
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
WIDTHS = frozenset({"hidden", "embedding", "projection", "input", "width"})  # of recurrent nets
SMALLEST = 16
SMALL_IMAGE = 64  # pixels along a side


def shortened(model: Model) -> Model:
    """Every line and period of a stack at most twice, so that its first run and a later one are there.

    A decoder that starts from its encoder's states has a layer for each of them, so that none may be left out.
    """
    if getattr(model.resolved, "handed_over", False):
        return model
    most = {"times": TWICE, "calls": TWICE}
    return replace(model, resolved=mapped(model.resolved, lambda name, value: min(value, most.get(name, value))))


def twin(model: Model) -> Model:
    """The same structure with small sizes: unequal ones stay unequal, and heads keep their groups."""
    if model.spec.family == "recurrent":
        return shortened(_in_proportion(model))
    short = shortened(model).resolved
    return replace(model, resolved=_consistent(short, mapped(short, _Smaller())))


def with_small_images(model: Model) -> Model:
    """The model itself, given small images where it reads those of any size and nobody says which."""
    inputs = getattr(model.resolved, "inputs", {})
    if not any(one.is_image and one.processor and one.size is None for one in inputs.values()):
        return model
    return model.fed(Media(image_size=(SMALL_IMAGE, SMALL_IMAGE)))


def no_twin(model: Model) -> str:
    """Why there is no small model of the same structure, or nothing."""
    return str(getattr(model.resolved, "no_twin", ""))


def within(model: Model, work: Workload) -> Workload:
    """The requested lengths, limited to what the model accepts: an image has one length, a position table an end."""
    lengths = dict(work.lengths)
    for name, length in work.lengths.items():
        limit = model.resolved.lengths[name]
        if limit.length is not None and (limit.fixed or limit.hard):
            lengths[name] = limit.length if limit.fixed else min(length, limit.length)
    return replace(work, lengths=lengths)


def _in_proportion(model: Model) -> Model:
    """Widths of recurrent nets add up, so all are divided by a common divisor."""
    found: list[int] = []

    def noted(name: str, value: int) -> int:
        found.extend([value] if name in WIDTHS else [])
        return value

    mapped(model.spec, noted)
    divisor = math.gcd(*found)
    times = max(1, SMALLEST // (max(found, default=1) // max(1, divisor)))

    def smaller(name: str, value: int) -> int:
        return value // divisor * times if name in WIDTHS else min(value, SIZES.get(name, value))

    spec = mapped(model.spec, smaller)
    return replace(model, spec=spec, resolved=family_module(spec.family).resolve(spec))


class _Smaller:
    """A distinct small size for each size that a field has."""

    def __init__(self) -> None:
        self.seen: dict[str, dict[int, int]] = {}

    def __call__(self, name: str, value: int) -> int:
        name = SAME_AS.get(name, name)
        if name not in SIZES or value <= SIZES[name]:
            return int(value)  # also a derived size, which follows from others that are smaller now
        known = self.seen.setdefault(name, {})
        return known.setdefault(value, SIZES[name] + 8 * len(known))


def mapped(value: Any, change: Callable[[str, int], int], name: str = "") -> Any:
    """A copy with every integer in its fields replaced."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return change(name, value)
    if isinstance(value, Node):
        changed = {key: mapped(getattr(value, key), change, key) for key in value.model_fields_set}
        return value.model_copy(update=changed)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: mapped(getattr(value, field.name), change, field.name) for field in fields(value)}
        return replace(value, **changed)
    if isinstance(value, dict):
        return {key: mapped(inner, change, name) for key, inner in value.items()}
    return tuple(mapped(inner, change, name) for inner in value) if isinstance(value, tuple) else value


def _consistent(old: Any, new: Any) -> Any:
    """Sizes that follow from others follow from the small ones too, as each class of a resolved spec declares it."""
    if isinstance(new, tuple):
        return tuple(map(_consistent, old, new))
    if isinstance(new, dict):
        return {name: _consistent(old[name], value) for name, value in new.items()}
    if not is_dataclass(new) or isinstance(new, type):
        return new
    inner = {field.name: _consistent(getattr(old, field.name), getattr(new, field.name)) for field in fields(new)}
    made = replace(new, **inner)
    return made.made_small(old) if isinstance(made, Small) else made
