"""Elementwise nonlinearities: one op each, or as transformers writes some of them in Python, op by op.

Source: transformers, activations.py.
"""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Tensor

Numbers = tuple[Tensor, ...]  # that an activation has learned
UNKNOWN = "unknown"  # a function of each element that archcalc does not know: parameters are counted, FLOPs refused
ACTIVATIONS = (
    *("relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "relu2", "leaky_relu", "elu", "identity"),
    *("selu", "mish", "softplus", "relu6", "hardswish", "hardsigmoid"),
    UNKNOWN,
)
LEARNED = {"xielu": ("alpha_p", "alpha_n")}  # those with numbers of their own, and what these are called


def activated(m: Module, x: Tensor, act: str, name: str = "") -> Tensor:
    """As the style writes it. A learned activation is a separate module."""
    m = m["act"] if act in LEARNED else m
    numbers = tuple(m.param(name, Dim.of("one", 1)) for name in LEARNED.get(act, ()))
    written = dict(m.style.activations).get(act)
    return written(m, x, numbers) if written else m.record(act, x, *numbers, note=act, name=name)


def gelu_new(m: Module, x: Tensor, numbers: Numbers) -> Tensor:
    """0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))). Source: NewGELUActivation.forward."""
    half = m.record("scale", x)
    inner = m.record("scale", m.record("add", x, m.record("scale", m.record("cube", x))))
    return m.record("multiply", half, m.record("add", m.record("tanh", inner)))


def gelu_fast(m: Module, x: Tensor, numbers: Numbers) -> Tensor:
    """0.5 · x · (1 + tanh(x · √(2/π) · (1 + 0.044715 · x · x))). Source: FastGELUActivation.forward."""
    half = m.record("scale", x)
    along = m.record("scale", x)
    bent = m.record("add", m.record("multiply", m.record("scale", x), x))
    return m.record("multiply", half, m.record("add", m.record("tanh", m.record("multiply", along, bent))))


def gelu_python(m: Module, x: Tensor, numbers: Numbers) -> Tensor:
    """x · 0.5 · (1 + erf(x / √2)). Source: GELUActivation._gelu_python."""
    half = m.record("scale", x)
    return m.record("multiply", half, m.record("add", m.record("erf", m.record("scale", x))))


def quick_gelu(m: Module, x: Tensor, numbers: Numbers) -> Tensor:
    """x · sigmoid(1.702 · x). Source: QuickGELUActivation.forward."""
    return m.record("multiply", x, m.record("sigmoid", m.record("scale", x)))


def relu_squared(m: Module, x: Tensor, numbers: Numbers) -> Tensor:
    """max(x, 0)². Source: ReLUSquaredActivation.forward."""
    return m.record("square", m.record("relu", x))


def xielu(m: Module, x: Tensor, numbers: Numbers) -> Tensor:
    """α·x² + x/2, or β·(eˣ − 1 − x) + x/2 below 0. Source: XIELUActivation._xielu_python."""
    above, below = numbers
    is_above = m.record("constant", x, role="mask")
    high = m.record("add", m.record("multiply", m.record("multiply", x, above), x), m.record("scale", x))
    bent = m.record("subtract", m.record("exp", m.record("scale", x)), x)
    low = m.record("add", m.record("multiply", bent, below), m.record("scale", x))
    return m.record("add", m.record("where", high, is_above), m.record("where", low, is_above))


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
