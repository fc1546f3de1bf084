"""The range of tanh, in gates and in the additive score vᵀ·tanh(W·[s;h])."""

from __future__ import annotations

import torch
from torch import sigmoid, tanh

from archcalc.identities.finding import Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap, gaussian

REACH, POINTS = 15.0, 3001  # beyond 19 float64 rounds tanh to 1 itself
STATES, WIDTH, ATTENTION = 50, 12, 8


def tanh_range() -> Findings:
    """tanh is odd, so it is negative wherever its input is; the sigmoid is what stays between 0 and 1."""
    x = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    outside = float((tanh(x) - tanh(x).clamp(0, 1)).abs().max())
    beyond = float((tanh(x).abs() - 1).max().clamp(min=0)) + int((tanh(x).abs() == 1).any())
    normal = gaussian(seed=27)
    w, v = normal(ATTENTION, WIDTH), normal(ATTENTION)
    scores = tanh(normal(STATES, WIDTH) @ w.T) @ v
    within, sizes = float((scores.abs() - v.abs().sum()).max().clamp(min=0)), f"{STATES} states of {WIDTH}"
    return measured_at(
        f"{POINTS:,} points, |x| ≤ {REACH:.0f}",
        wrong("tanh maps to [0, 1]", outside).showing(Value("tanh(−1)", float(tanh(-torch.ones(1))))),
        corrected("tanh maps to (−1, 1)", beyond),
        right("tanh(x) = 2σ(2x) − 1, and σ maps to (0, 1)", gap(tanh(x), 2 * sigmoid(2 * x) - 1)),
        wrong("additive scores vᵀtanh(W·[s;h]) are ≥ 0", float((-scores).max())).at(f"{sizes}, d_a = {ATTENTION}"),
        corrected("they lie between −‖v‖₁ and ‖v‖₁", within).at(f"{sizes}, d_a = {ATTENTION}"),
    )
