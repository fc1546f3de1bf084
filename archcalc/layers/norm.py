"""Layer norm and RMS norm over the last axis."""

from __future__ import annotations

from archcalc.core.ir import Axes, Module, Role, Tensor


def norm(
    m: Module,
    x: Tensor,
    kind: str,
    *,
    bias: bool = True,
    affine: bool = True,
    trainable: bool = True,
    shape: Axes | None = None,
) -> Tensor:
    """By the style's function for that kind of norm; `shape` is that of its weights, where it is not the last axis."""
    if kind == "none":
        return x
    names = ("weight", "bias") if bias and kind == "layer" else ("weight",)
    wide = shape or x.axes[-1:]
    weights = [m.param(name, *wide, trainable=trainable, role=Role.NORM) for name in names if affine]
    return m.style.rms_norm(m, x, *weights) if kind == "rms" else m.style.layer_norm(m, x, *weights)
