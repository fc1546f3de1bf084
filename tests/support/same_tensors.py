"""A spec beside a class of transformers: do they have the same tensors, by shape and number?"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

import archcalc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from archcalc.analyze.params import Row

META = torch.device("meta")
FUSED = {
    "qkv": ("q", "k", "v"),
    "attention.qkv": ("attention.q", "attention.k", "attention.v"),
    "cross.kv": ("cross.k", "cross.v"),
    "gate_up": ("gate", "up"),
    "experts": ("experts.gate", "experts.up"),
}
Shapes = Counter[tuple[int, ...]]


@dataclass(frozen=True)
class Case:
    """A class of transformers, its config, the spec that says the same, and what the class keeps as one tensor."""

    model: str
    config: dict[str, Any]
    spec: dict[str, Any]
    fused: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.model


def build(case: Case) -> torch.nn.Module:
    """On the meta device: shapes without memory."""
    with META, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # transformers' own
        import transformers

        model_class = getattr(transformers, case.model)
        model: torch.nn.Module = model_class(model_class.config_class(**case.config))
    return model


def check(case: Case) -> None:
    theirs = Counter(_plain(parameter.shape) for parameter in build(case).parameters())
    rows = [row for row in archcalc.load(case.spec).params().rows if row.kind == "tensor" and not row.tied_to]
    assert _shapes(rows, case.fused) == theirs


def _plain(shape: Iterable[int]) -> tuple[int, ...]:
    """Whichever way a matrix lies, and without dims of one."""
    return tuple(sorted(size for size in shape if size != 1))


def _shapes(rows: list[Row], fused: tuple[str, ...]) -> Shapes:
    found: Shapes = Counter()
    joined: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        module, _, name = row.path.rpartition(".")
        ends = [(kind, end) for kind in fused for end in FUSED[kind] if f".{module}".endswith(f".{end}")]
        if ends:
            kind, end = ends[0]
            joined.setdefault((module.removesuffix(end) + kind, name), []).append(row)
        else:
            found[_plain(row.shape or ())] += int(row.repeat)
    for (path, _), group in joined.items():
        whole = _joined([row.shape or () for row in group], axis=1 if path.endswith("experts") else 0)
        found[_plain(whole)] += int(group[0].repeat)
    return found


def _joined(shapes: list[tuple[int, ...]], axis: int) -> tuple[int, ...]:
    """Along the axis that comes out, which stands behind the experts'."""
    first = shapes[0]
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])
