"""Activations that transformers writes in Python, op by op; the caller's variable holds their input meanwhile.

Source: transformers, activations.py.
"""

from __future__ import annotations

from archcalc.core.ir import Op
from archcalc.run.code.writing import Lines


def gelu_new(op: Op, *, narrow: bool) -> list[Op]:
    """0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))). Source: NewGELUActivation.forward."""
    lines, (x,) = Lines(narrow=narrow), op.inputs
    half = lines.do("scale", x)
    inner = lines.do("scale", lines.do("add", x, lines.do("scale", lines.do("cube", x))))
    lines.do("multiply", half, lines.do("add", lines.do("tanh", inner)))
    lines.hold(x)
    return lines.returned(op)


def gelu_fast(op: Op, *, narrow: bool) -> list[Op]:
    """0.5 · x · (1 + tanh(x · √(2/π) · (1 + 0.044715 · x · x))). Source: FastGELUActivation.forward."""
    lines, (x,) = Lines(narrow=narrow), op.inputs
    half = lines.do("scale", x)
    along = lines.do("scale", x)
    bent = lines.do("add", lines.do("multiply", lines.do("scale", x), x))
    lines.do("multiply", half, lines.do("add", lines.do("tanh", lines.do("multiply", along, bent))))
    lines.hold(x)
    return lines.returned(op)


def gelu_python(op: Op, *, narrow: bool) -> list[Op]:
    """x · 0.5 · (1 + erf(x / √2)). Source: GELUActivation._gelu_python."""
    lines, (x,) = Lines(narrow=narrow), op.inputs
    half = lines.do("scale", x)
    lines.do("multiply", half, lines.do("add", lines.do("erf", lines.do("scale", x))))
    lines.hold(x)
    return lines.returned(op)


def quick_gelu(op: Op, *, narrow: bool) -> list[Op]:
    """x · sigmoid(1.702 · x). Source: QuickGELUActivation.forward."""
    lines, (x,) = Lines(narrow=narrow), op.inputs
    lines.do("multiply", x, lines.do("sigmoid", lines.do("scale", x)))
    lines.hold(x)
    return lines.returned(op)


def relu_squared(op: Op, *, narrow: bool) -> list[Op]:
    """max(x, 0)². Source: ReLUSquaredActivation.forward."""
    lines, (x,) = Lines(narrow=narrow), op.inputs
    bent = lines.do("relu", x)
    lines.do("square", bent)
    lines.hold(x, bent)
    return lines.returned(op)


def xielu(op: Op, *, narrow: bool) -> list[Op]:
    """α·x² + x/2, or β·(eˣ − 1 − x) + x/2 below 0. Source: XIELUActivation._xielu_python."""
    lines, (x, above, below) = Lines(narrow=narrow), op.inputs
    is_above = lines.do("constant", x, role="mask")
    high = lines.do("add", lines.do("multiply", lines.do("multiply", x, above), x), lines.do("scale", x))
    bent = lines.do("subtract", lines.do("exp", lines.do("scale", x)), x)
    low = lines.do("add", lines.do("multiply", bent, below), lines.do("scale", x))
    lines.do("add", lines.do("where", high, is_above), lines.do("where", low, is_above))
    lines.hold(x)
    return lines.returned(op)


WRITTEN = {  # by their names in configs: the kind of op that a spec has for it, and the code
    "gelu_new": ("gelu_tanh", gelu_new),
    "gated-gelu": ("gelu_tanh", gelu_new),  # T5Config sets dense_act_fn so
    "gelu_accurate": ("gelu_tanh", gelu_new),
    "gelu_python_tanh": ("gelu_tanh", gelu_new),
    "gelu_fast": ("gelu_tanh", gelu_fast),
    "gelu_python": ("gelu", gelu_python),
    "quick_gelu": ("silu", quick_gelu),
    "relu2": ("relu2", relu_squared),
    "xielu": ("xielu", xielu),
}
GELUS = {"python": "gelu_python", "tanh_python": "gelu_new"}  # the habit `gelu`
