"""How alike vectors of two kinds are (CLIP, SigLIP): cosines of each of the one with each of the other, times a learned
factor that is stored as its logarithm."""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Role, Tensor, axes

OTHERS = "others"


def similarity(m: Module, first: Tensor, second: Tensor, *, bias: bool) -> Tensor:
    """(batch, others): a row of cosines for each of the first."""
    batch, features = first.dims
    others = Dim.of(OTHERS, batch.size)
    one, other = _of_length_one(m, first), _of_length_one(m, second.seen_as(others, features))
    found = m.record("contract", one, other, to=axes(batch, others), over=(features,), name="cosines")
    single = Dim.of("one", 1)
    found = m.record("multiply", found, m.record("exp", m.param("scale", single)), name="scores")
    return m.record("add", found, m.param("bias", single, role=Role.BIAS)) if bias else found


def _of_length_one(m: Module, x: Tensor) -> Tensor:
    squares = m.record("sum", m.record("square", x), to=x.axes[:1], over=x.axes[1])
    return m.record("divide", x, m.record("root", squares))
