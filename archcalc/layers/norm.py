"""Layer norm and RMS norm over the last axis."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor


def norm(m: Module, x: Tensor, kind: str, *, bias: bool = True, affine: bool = True, trainable: bool = True) -> Tensor:
    if kind == "none":
        return x
    width = x.axes[-1]
    weights = (m.param("weight", width, trainable=trainable),) if affine else ()
    biases = (m.param("bias", width, trainable=trainable),) if affine and bias and kind == "layer" else ()
    return m.record(f"{kind}_norm", x, *weights, *biases)
