"""Hyper-connections (Xie et al. 2026, as in DeepSeek-V4): the residual stream is several, mixed anew around each part.

    before = norm(all streams side by side) · W      weights by which they are summed to what the part reads,
                                                     by which its output is added to each, and a matrix that mixes them
    streams = mixed(streams) + weight · part(sum)

The matrix is made doubly stochastic: its rows and columns are divided by their sums, several times.
"""

from __future__ import annotations

from typing import NamedTuple

from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.norm import norm


class Mixing(NamedTuple):
    """What the part reads, and how its output comes back into the streams."""

    read: Tensor
    added: Tensor
    matrix: Tensor


def streams_of(number: int) -> Dim:
    return Dim.of("streams", number, copies=True)


def spread(m: Module, x: Tensor, number: int) -> Tensor:
    """The embedding, in every stream."""
    batch, seq, d_model = x.dims
    return m.record("copy", x, to=axes(batch, seq, streams_of(number), d_model))


def mixed(m: Module, x: Tensor, rounds: int) -> Mixing:
    batch, seq, stream, _ = x.dims
    other = Dim.of("other_streams", int(stream.size), copies=True)
    weights = _weights(m, x, Dim.of("mixing", (2 + stream.size) * stream.size), 3)
    read, added = (m.record("sigmoid", weights.seen_as(batch, seq, stream)) for _ in range(2))
    square = m.record("softmax", weights.seen_as(batch, seq, other, stream))
    matrix = m.record("sinkhorn", square, to=square.axes, over=(Dim.of("rounds", rounds),))
    return Mixing(_summed(m, x, read), m.record("scale", added), matrix)


def returned(m: Module, x: Tensor, out: Tensor, mixing: Mixing) -> Tensor:
    """The streams, mixed, and what the part gave in each of them."""
    batch, seq, stream, d_model = x.dims
    other = mixing.matrix.dims[2]
    turned = mixing.matrix.seen_as(batch, seq, stream, other)
    as_other = x.seen_as(batch, seq, other, d_model)
    kept = m.record("contract", turned, as_other, to=x.axes, over=(other,))
    return m.record("add", kept, m.record("multiply", mixing.added, out, to=x.axes))


def joined(m: Module, x: Tensor) -> Tensor:
    """One stream behind the last block."""
    return _summed(m, x, m.record("sigmoid", _weights(m, x, x.dims[2], 1)))


def _weights(m: Module, x: Tensor, out: Dim, scales: int) -> Tensor:
    batch, seq, stream, d_model = x.dims
    flat = norm(m["norm"], x.seen_as(batch, seq, (stream, d_model)), "rms", affine=False)
    wide = Dim.of("all_streams", int(stream.size * d_model.size))
    row = Dim.of("mixed", int(out.size))
    weight, base = m.param("weight", row, wide, role=Role.LINEAR), m.param("base", row)
    m.param("scale", Dim.of("scales", scales))
    found = m.record("contract", flat.seen_as(batch, seq, wide), weight, to=axes(batch, seq, row), over=(wide,))
    return m.record("add", m.record("scale", found), base)


def _summed(m: Module, x: Tensor, weights: Tensor) -> Tensor:
    batch, seq, stream, d_model = x.dims
    weighed = m.record("multiply", x, weights.seen_as(batch, seq, stream))
    return m.record("sum", weighed, to=axes(batch, seq, d_model), over=(stream,))
