"""Layers of maps along a sequence: its positions are the one side of a map whose channels are the features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.archs.network.layer import Layer, Shape, Trace, parts
from archcalc.core.ir import Module, Tensor, axes


@dataclass(frozen=True)
class AlongPositions:
    """In PyTorch a transposed view goes in, and a transposed view comes out."""

    spec_kind: ClassVar[str] = "along_positions"
    layer: Layer

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, features, positions = parts(x)
        out = self.layer.run(m, x.seen_as(batch, features, *positions), trace)
        batch, features, after = out.dims
        return trace.turned(m.record("view", out, to=axes(batch, after, features)))


def as_map(shape: Shape) -> Shape:
    return replace(shape, is_sequence=False)


def as_sequence(shape: Shape) -> Shape:
    return replace(shape, is_sequence=True)
