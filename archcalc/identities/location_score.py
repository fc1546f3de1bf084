"""Luong's location score: softmax(W·h_t), weights that never look at the source."""

from __future__ import annotations

import torch
from torch import Tensor, nn, softmax

from archcalc.identities.finding import WHOLE, Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import filled, gap, gaussian, weights

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
