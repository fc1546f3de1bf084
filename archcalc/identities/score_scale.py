"""Why scores are divided by √D: without it the softmax saturates, and its Jacobian vanishes as D grows."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor, softmax
from torch.autograd.functional import jacobian

from archcalc.identities.finding import Bound, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import gaussian

KEYS, QUERIES, WIDTHS = 64, 2000, (4, 64, 1024)
LIKE = Bound(0.05, "as large is taken to mean: to 0.05, of a trace that is at most 1")


class Sampled(NamedTuple):
    """A mean over queries, and its standard error."""

    mean: float
    error: float


def weights(d: int, scale: float) -> Tensor:
    """Softmax weights of random queries over random keys; given q, a score q·k is ‖q‖ times a normal number."""
    normal = gaussian(seed=25)
    lengths = normal(QUERIES, d).norm(dim=1, keepdim=True)
    return softmax(scale * lengths * normal(QUERIES, KEYS), dim=1)


def slope(d: int, scale: float) -> Sampled:
    """The trace of the Jacobian, 1 − Σ_n a_n²: what all weights together gain from their own scores."""
    traces = 1 - (weights(d, scale) ** 2).sum(1)
    return Sampled(float(traces.mean()), float(traces.std()) / sqrt(QUERIES))


def softmax_jacobian() -> Findings:
    """Scores of variance D push the softmax into its flat corners; divided by √D they have variance 1 at every D."""
    bare = {d: slope(d, scale=1) for d in WIDTHS}
    scaled = {d: slope(d, scale=1 / sqrt(d)) for d in WIDTHS}
    narrow, wide = WIDTHS[0], WIDTHS[-1]
    before, values = ([Value(f"D = {d:,}", *one[d]) for d in WIDTHS] for one in (bare, scaled))
    steady = max(one.mean for one in scaled.values()) - min(one.mean for one in scaled.values())
    row = weights(16, scale=1)[0].log()
    exact: Tensor = jacobian(lambda s: softmax(s, dim=0), row)  # type: ignore[no-untyped-call]
    one_hot = softmax(torch.tensor([0.0, *[-800.0] * (KEYS - 1)], dtype=torch.float64), dim=0)
    return measured_at(
        f"{KEYS} keys, {QUERIES:,} queries, D = {', '.join(map(str, WIDTHS))}; J by its trace",
        right("trace J = 1 − Σ_n a_n²", abs(float(exact.trace()) - float(1 - (row.exp() ** 2).sum()))),
        wrong("without 1/√D J is as large at every D", bare[narrow].mean - bare[wide].mean, LIKE).showing(*before),
        corrected("with 1/√D it is as large at every D", steady, LIKE).showing(*values),
        right("a one-hot softmax has J = 0", float(1 - (one_hot**2).sum())),
    )
