"""Small nets traced by hand, for diagrams: modules with names that say nothing, since no picture may depend on them."""

from __future__ import annotations

from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, Region, Tensor, axes
from archcalc.core.roles import Role

BATCH = Dim.of("batch", 2)


def image(root: Module, side: int = 64) -> Tensor:
    return root.record("input", to=axes(BATCH, Dim.of("c3", 3), *sides(side)), name="image")


def sides(size: int) -> tuple[Dim, Dim]:
    return Dim.of(f"height{size}", size), Dim.of(f"width{size}", size)


def conv(m: Module, x: Tensor, channels: int, *, side: int = 0) -> Tensor:
    """A 1 × 1 convolution, to maps of another size where one is given."""
    into, at = x.dims[1], sides(side) if side else x.dims[2:]
    out = Dim.of(f"out{channels}", channels)
    weight = m.param("weight", out, into, role=Role.CONVOLUTION)
    seen = x.seen_as(BATCH, into, *at)
    made = m.record("contract", seen, weight, to=axes(BATCH, out, *at), over=(into,))
    return made.seen_as(BATCH, Dim.of(f"c{channels}", channels), *at)


def ends(root: Module, x: Tensor) -> Module:
    root.section(Region.LOSS).record("squared_error", x, Tensor(x.axes), to=())
    return root


def u_net(levels: int = 3, *, around: str = "") -> Module:
    """Down, up, and a concatenation with each level of the way down; in a module of its own, if one is named."""
    root = Module("model")
    x, skips, m = image(root), [], root[around] if around else root
    for level in range(levels):
        x = conv(m[f"a{level}"], x, 8 << level)
        skips.append(x)
        x = conv(m[f"b{level}"], x, 8 << level, side=32 >> level)
    x = conv(m["c"], x, 8 << levels)
    for level in reversed(range(levels)):
        x = conv(m[f"d{level}"], x, 8 << level, side=64 >> level)
        joined = axes(BATCH, Dim.of(f"joined{level}", 16 << level), *x.dims[2:])
        x = m[f"e{level}"].record("concat", x, skips[level], to=joined)
        x = conv(m[f"f{level}"], x, 8 << level)
    return ends(root, conv(root["g"], x, 2))


def residual_net(*, blocks: int = 3, projected: bool = False) -> Module:
    """A stem, then one repeated block with a residual, through a projection if asked for."""
    root = Module("model")
    x = conv(root["stem"], image(root), 8)
    m = root.child("z", repeat=Count(blocks))
    branch = conv(m["p"], x, 8)
    branch = conv(m["q"], m.record("relu", branch), 8)
    beside = conv(m["r"], x, 8) if projected else x
    return ends(root, m.record("relu", m.record("add", branch, beside)))


def chain(length: int) -> Module:
    """One layer after the other."""
    root = Module("model")
    x = image(root)
    for index in range(length):
        x = conv(root[f"l{index}"], x, 8 + index)
    return ends(root, x)


def three_towers() -> Module:
    """Three inputs with layers of their own; the last reads what the first two make, in the middle of its way."""
    root = Module("model")
    made: list[Tensor] = []
    for name in ("r", "s", "t"):
        x = root.record("input", to=axes(BATCH, Dim.of("c3", 3), *sides(16)), name=name)
        x = conv(root[f"{name}1"], x, 8)
        if name == "t":
            m = root["t2"]
            for index, other in enumerate(made):
                x = m.record("add", conv(m[f"p{index}"], x, 8), conv(m[f"q{index}"], other, 8))
        made.append(x)
    return ends(root, conv(root["u"], made[-1], 2))
