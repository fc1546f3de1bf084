"""The reference works out by itself what archcalc derives: no size is handed over that it is to check.

A resolved spec has sizes of three kinds: those that the spec says, those that follow from others (`Derived`, which the
reference is not told), and those without which PyTorch could build no layer and which it refuses if they do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

import archcalc
from archcalc.archs import family_module
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError
from archcalc.spec.fields import places
from archcalc.spec.node import Node
from archcalc.spec.resolved import every_part
from archcalc.verify.check import verify
from archcalc.verify.lengths import workload_of
from archcalc.verify.plain import plain
from archcalc.verify.small import mapped

pytest.importorskip("torch")

Spec = dict[str, Any]
SMALL: Spec = {"vocab": 9, "d_model": 8, "heads": 2}
IMAGE: Spec = {"kind": "patches", "image": 4, "patch": 2}
MAP: Spec = {"family": "network", "input": [4, 9, 9], "loss": "none"}
SPECS: dict[str, Spec] = {
    "attention": {**SMALL, "decoder": 1, "ffn": 6, "position": {"kind": "rope", "fraction": 0.5}},
    "narrow table": {**SMALL, "decoder": 1, "ffn": 6, "embedding": {"width": 4}},
    "mamba": {**SMALL, "decoder": {"pattern": ["mamba", "rglru"]}, "rglru": {"heads": 2}},
    "mamba2": {**SMALL, "decoder": {"pattern": ["mamba"]}, "mamba": {"kind": "mamba2", "heads": 4}},
    "delta": {**SMALL, "decoder": {"pattern": ["delta"]}, "delta": {"heads": 2, "head_dim": 4}},
    "kda": {**SMALL, "decoder": {"pattern": ["delta"]}, "delta": {"kind": "kda", "heads": 2, "head_dim": 4}},
    "image": {"d_model": 8, "heads": 2, "ffn": 6, "encoder": 1, "embedding": IMAGE, "position": "learned"}
    | {"head": {"kind": "classifier", "classes": 3}},
    "same": {**MAP, "layers": [{"conv": 4, "kernel": 4, "padding": "same"}]},
    "same with a stride": {**MAP, "layers": [{"conv": 4, "kernel": [3, 2], "stride": 2, "padding": "same"}]},
    "depthwise": {**MAP, "layers": [{"conv": 4, "kernel": 3, "groups": "depthwise", "norm": "batch"}]},
    "not shared": {**MAP, "layers": [{"conv": 4, "kernel": 3, "shared": False}]},
    "pool": {**MAP, "layers": [{"conv": 4, "kernel": 2}, {"pool": "max", "kernel": 2}, "flatten", {"linear": 3}]},
    "crop": {**MAP, "layers": [{"concat": ["input", [{"conv": 4, "kernel": 3}]], "crop": True}]},
    "words": {"family": "word2vec", "kind": "cbow", "vocab": 7, "embedding": 3, "output": "negative", "negatives": 2},
    "mirrored": {"family": "autoencoder", "kind": "deep", "input": 6, "hidden": [4, 3]},
    "recurrent": {"family": "recurrent", "vocab": 7, "embedding": 3, "hidden": 4, "cell": "gru", "layers": 2},
}
FITS = {  # by family: widths of what comes in, which PyTorch's layers are made with, and refuse if it is not so
    "network": {"into", "channels", "sides"},
    "recurrent": {"input", "embedding", "context", "query", "key"},
}
STATED = ("sample",)  # what comes into a network, in the words of the spec: both sides take it from there
STRUCTURE = {  # which layers there are, in which order and how often, once blocks and patterns are opened
    "network": {"repeat", "out", "first", "end", "slopes"},
    "recurrent": {"first", "times", "directions", "hidden"},
    "transformer": {"times", "calls"},
}
RENAMED = {"word2vec": {"width"}, "transformer": {"nope", "rope", "value"}, "autoencoder": {"encoder"}}


def load(name: str) -> archcalc.Model:
    return archcalc.load(SPECS[name])


def figures(model: archcalc.Model) -> tuple[bool, list[Any]]:
    """Whether PyTorch agrees, and archcalc's side; a model that cannot be built or run does not agree."""
    try:
        report = verify(model, workload_of(model, quick=True), way=("eager" if _attends(model) else "", "none"))
    except (InputError, RuntimeError, TypeError, ValueError, AssertionError):
        return False, []
    return report.ok, [row.archcalc for row in report.rows]


def _attends(model: archcalc.Model) -> bool:
    return any(getattr(part, "spec_kind", "") == "attention" for part in every_part(model.resolved))


def changed(model: archcalc.Model, place: int, names: set[str]) -> tuple[archcalc.Model, str]:
    """With another size at one place: of those that are derived, or that have one of these names."""
    found: list[str] = []

    def another(name: str, value: int) -> int:
        if not (isinstance(value, Derived) or name in names):
            return value
        found.append(name)
        return type(value)(2 * value + 2) if len(found) == place + 1 else value

    resolved = mapped(model.resolved, another)
    stated = {name: getattr(model.resolved, name) for name in STATED if hasattr(resolved, name)}
    return replace(model, resolved=replace(resolved, **stated)), found[place] if place < len(found) else ""


@pytest.mark.parametrize("name", sorted(SPECS))
def test_another_size_is_noticed(name: str) -> None:
    """It is changed before both sides see it: where archcalc's figures follow, the reference does not."""
    model = load(name)
    agrees, right = figures(model)
    assert agrees
    place = 0
    while (found := changed(model, place, FITS.get(model.spec.family, set())))[1]:
        agrees, other = figures(found[0])
        assert not agrees or other == right, f"the reference follows {found[1]}"
        place += 1
    assert place or name == "words"


def test_a_derived_size_is_not_handed_over() -> None:
    config = plain(load("attention").resolved)
    layer = config["decoder"]["parts"]["attention"]["layer"]
    assert (layer["heads"], layer["head_dim"], layer["kv_heads"]) == (2, None, None)


@pytest.mark.parametrize("preset", [*sorted(SPECS), "llama-3-8b", "jamba-v0.1", "beit-base", "resnet-18", "unet"])
def test_every_other_size_stands_in_the_spec(preset: str) -> None:
    model = load(preset) if preset in SPECS else archcalc.load(preset)
    family = model.spec.family
    said = set(_said(model.spec)) | _defaults(family)
    free = set().union(*(table.get(family, set()) for table in (FITS, STRUCTURE, RENAMED)))
    handed = {(name, size) for part in every_part(model.resolved) for name, size in _sizes(part) if name not in free}
    assert {(name, size) for name, size in handed if size not in {0, 1}} <= said


def _sizes(part: Any) -> Iterator[tuple[str, int]]:
    """Numbers that the reference is told, by their fields."""
    if is_dataclass(part):
        for each in fields(part):
            yield from _numbers(each.name, getattr(part, each.name))


def _numbers(name: str, value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, tuple):
        for each in value:
            yield from _numbers(name, each)
    elif isinstance(value, int) and not isinstance(value, bool | Derived):
        yield name, value


def _said(value: Any, name: str = "") -> Iterator[tuple[str, int]]:
    """Every number of a spec, by the field that it stands in; of a network, by the fields of its layers."""
    if isinstance(value, Node):
        value = value.model_dump()
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _said(each, str(key))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _said(each, name)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value


def _defaults(family: str) -> set[tuple[str, int]]:
    infos = [(place.name, place.info.default) for place in places(family_module(family).Spec)]
    return {pair for name, default in infos for pair in _numbers(name, default)}
