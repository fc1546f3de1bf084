"""Layer norm and RMS norm over the last axis."""

from __future__ import annotations

from archcalc.core.ir import Module, Role, Tensor


def norm(m: Module, x: Tensor, kind: str, *, bias: bool = True, affine: bool = True, trainable: bool = True) -> Tensor:
    if kind == "none":
        return x
    width = x.axes[-1]
    weights = (m.param("weight", width, trainable=trainable, role=Role.NORM),) if affine else ()
    has_bias = affine and bias and kind == "layer"
    biases = (m.param("bias", width, trainable=trainable, role=Role.NORM),) if has_bias else ()
    return normalised(m, x, kind, (*weights, *biases))


def normalised(m: Module, x: Tensor, kind: str, weights: tuple[Tensor, ...] = ()) -> Tensor:
    """By the style's function for that kind of norm."""
    return m.style.rms_norm(m, x, *weights) if kind == "rms" else m.style.layer_norm(m, x, *weights)
