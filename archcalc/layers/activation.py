"""Elementwise nonlinearities."""

from __future__ import annotations

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "relu2", "leaky_relu", "elu", "identity")
