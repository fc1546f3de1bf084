"""A claim that is changed by one sign, factor or constant is caught: it no longer turns out as expected."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
import torch

from archcalc.identities import run

if TYPE_CHECKING:
    from .conftest import Measured

MUTATIONS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {  # identity: file, what is changed in it, and how
    "shift-matrix": ("position", "shift", lambda shift: lambda k, theta: shift(-k, theta)),
    "sinusoidal": ("position", "shift", lambda shift: lambda k, theta: shift(k, 1.001 * theta)),
    "sinusoid-wavelengths": ("position", "wavelengths", lambda lengths: lambda d: lengths(d) * 1.0001),
    "sinusoid-similarity": ("position", "frequencies", lambda frequencies: lambda d: frequencies(d) * 1e-6),
    "score-law": ("attention", "ASIDE", lambda aside: aside * 1.01),
    "noisy-keys": ("keys", "factors", lambda factors: lambda: factors() + 0.02),
    "equal-queries": ("keys", "gap", lambda gap: lambda a, b: gap(a, b * 1.001)),
    "softmax-elementwise": ("softmax", "of_row", lambda _: lambda row, dim: torch.sigmoid(row)),
    "softmax-zeros": ("softmax", "of_row", lambda _: lambda row, dim: torch.softmax(1.01 * row, dim)),
    "softmax-jacobian": ("softmax", "sqrt", lambda sqrt: lambda d: sqrt(d) ** 0.5),
    "tanh-range": ("seq2seq", "tanh", lambda _: torch.sigmoid),
    "bottleneck": ("autoencoders", "NARROW", lambda code: code + 3),
    "patches": ("patches", "cut", lambda cut: lambda image: cut(image)[1:]),
    "projection-coordinates": ("keys", "gap", lambda gap: lambda left, right: gap(left, right * 1.01)),
    "gru-gates": ("gated_cells", "sigmoid", lambda sigmoid: lambda gate: sigmoid(-gate)),
    "alibi-slopes": ("alibi", "slopes", lambda slopes: lambda heads: slopes(heads) * 1.01),
    "alibi-bias": ("alibi", "gap", lambda gap: lambda left, right: gap(left, right * 1.01)),
    "kernel-compute": ("kernel", "kernel_attend", lambda _: lambda phi_q, phi_k, v: phi_q @ phi_k.T @ v),
    "kernel-memory": ("kernel", "kernel_attend", lambda _: lambda phi_q, phi_k, v: phi_q @ phi_k.T @ v),
    "lstm-gradients": ("gated_cells", "softmax", lambda _: lambda z, dim: torch.sigmoid(z)),
    "feature-map": ("kernel", "features", lambda features: lambda x, linear=1.4: features(x, linear)),
    "rope": (
        "position",
        "frequencies",
        lambda _: lambda d: torch.arange(d // 2 + 1, dtype=torch.float64)[1:].exp() * 1e9,
    ),
}


@pytest.mark.parametrize("identity", MUTATIONS)
def test_a_mutated_claim_is_caught(identity: str, measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    file, name, change = MUTATIONS[identity]
    module = import_module(f"archcalc.identities.{file}")
    assert all(finding.as_expected for finding in measured(identity))
    monkeypatch.setattr(module, name, change(getattr(module, name)))
    assert not all(finding.as_expected for finding in run([identity]))
