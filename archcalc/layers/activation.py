"""Elementwise nonlinearities."""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Tensor

ACTIVATIONS = (
    *("relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "relu2", "leaky_relu", "elu", "identity"),
    *("selu", "mish", "softplus", "relu6", "hardswish", "hardsigmoid"),
)
LEARNED = {"xielu": ("alpha_p", "alpha_n")}  # those with numbers of their own, and what these are called


def activated(m: Module, x: Tensor, act: str) -> Tensor:
    """A learned activation is a separate module."""
    if act not in LEARNED:
        return m.style.activation(m, act, x)
    numbers = tuple(m["act"].param(name, Dim.of("one", 1)) for name in LEARNED[act])
    return m.style.activation(m["act"], act, x, numbers)
