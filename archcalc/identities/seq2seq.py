"""Scores of attention between recurrent nets: the range of tanh, in gates and in the additive score vᵀ·tanh(W·[s;h]),
and Luong's location score softmax(W·h_t), weights that never look at the source."""

from __future__ import annotations

import torch
from torch import Tensor, nn, sigmoid, softmax, tanh

from archcalc.identities.finding import WHOLE, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import filled, gap, gaussian, weights

REACH, POINTS = 15.0, 3001  # beyond 19 float64 rounds tanh to 1 itself
STATES, STATE, ATTENTION = 50, 12, 8


def tanh_range() -> Findings:
    """tanh is odd, so it is negative wherever its input is; the sigmoid is what stays between 0 and 1."""
    x = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    outside = float((tanh(x) - tanh(x).clamp(0, 1)).abs().max())
    beyond = float((tanh(x).abs() - 1).max().clamp(min=0)) + int((tanh(x).abs() == 1).any())
    normal = gaussian(seed=27)
    w, v = normal(ATTENTION, STATE), normal(ATTENTION)
    scores = tanh(normal(STATES, STATE) @ w.T) @ v
    within, sizes = float((scores.abs() - v.abs().sum()).max().clamp(min=0)), f"{STATES} states of {STATE}"
    return measured_at(
        f"{POINTS:,} points, |x| ≤ {REACH:.0f}",
        wrong("tanh maps to [0, 1]", outside).showing(Value("tanh(−1)", float(tanh(-torch.ones(1))))),
        corrected("tanh maps to (−1, 1)", beyond),
        right("tanh(x) = 2σ(2x) − 1, and σ maps to (0, 1)", gap(tanh(x), 2 * sigmoid(2 * x) - 1)),
        wrong("additive scores vᵀtanh(W·[s;h]) are ≥ 0", float((-scores).max())).at(f"{sizes}, d_a = {ATTENTION}"),
        corrected("they lie between −‖v‖₁ and ‖v‖₁", within).at(f"{sizes}, d_a = {ATTENTION}"),
    )


WIDTH, LENGTH, LONGER = 6, 10, 14


def location_score() -> Findings:
    """W has a row for each source position, so the number of positions is fixed with it."""
    normal = gaussian(seed=28)
    layer = filled(lambda: nn.Linear(WIDTH, LENGTH, bias=False, dtype=torch.float64), normal)
    h_t = normal(WIDTH)

    def location(source: Tensor) -> Tensor:
        return softmax(layer(h_t), dim=0)  # the source is given, and not used

    short, other, long = normal(LENGTH, WIDTH), normal(LENGTH, WIDTH), normal(LONGER, WIDTH)
    given = corrected("location gives each source word a weight", abs(len(location(short)) - LENGTH), WHOLE)
    return measured_at(
        f"W of {LENGTH} × {WIDTH}, sources of {LENGTH} and {LONGER} words",
        wrong("location gives a weight to every source word", abs(len(location(long)) - LONGER), WHOLE),
        given.only_if("the source is as long as W has rows"),
        right("its weights do not depend on the source", gap(location(short), location(other))),
        right("it has length × d parameters", abs(weights(layer) - LENGTH * WIDTH), WHOLE),
    )
