"""What softmax does to a row of scores: no entry becomes zero, and none is computed without the others."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor
from torch import softmax as of_row
from torch.autograd.functional import jacobian

from archcalc.identities.finding import WHOLE, Bound, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap, gaussian

N = 8
SPREAD = 5.0  # standard deviation: the smallest weights then look like zero when they are rounded


def below(distance: float, dtype: torch.dtype) -> float:
    """The weight of a score that is `distance` below the other of two."""
    return float(of_row(torch.tensor([0.0, -distance], dtype=dtype), dim=0)[1])


def softmax_zeros() -> Findings:
    """e^s is positive for every finite s; only −∞, or a number too small for the format, gives 0."""
    s = SPREAD * gaussian(seed=23)(N)  # from far below to far above
    a = of_row(s, dim=0)
    least = float(a.min())
    masked = of_row(s.index_fill(0, torch.tensor([0, 3]), -torch.inf), dim=0)
    kept = [below(700, torch.float64), below(80, torch.float32)]
    lost = [below(750, torch.float64), below(110, torch.float32)]
    surprises = sum(weight == 0 for weight in kept) + sum(weight != 0 for weight in lost)
    return measured_at(
        f"{N} scores of standard deviation {SPREAD:.0f}",
        wrong("softmax makes small entries zero", least, WHOLE).showing(Value("smallest weight", least)),
        corrected("a_n/a_m = e^(s_n − s_m), positive", gap((a / a[0]).log(), s - s[0])),
        right("a masked entry is exactly 0", float(masked[[0, 3]].abs().sum()), WHOLE).only_if("its score is −∞"),
        right("an entry is stored as 0", surprises, WHOLE)
        .only_if("its score is some 745 below the largest in float64, 104 in float32")
        .at("scores 700 and 750 apart in float64, 80 and 110 in float32"),
    )


def softmax_elementwise() -> Findings:
    """Each entry is divided by the sum of all, so each depends on every score."""
    s = gaussian(seed=24)(N)
    a = of_row(s, dim=0)
    slopes: Tensor = jacobian(lambda row: of_row(row, dim=0), s)  # type: ignore[no-untyped-call]
    others = float((slopes - slopes.diagonal().diag()).abs().max())
    return measured_at(
        f"{N} scores",
        wrong("softmax is applied element by element", others).showing(Value("largest ∂a_n/∂s_m for n ≠ m", others)),
        corrected("∂a/∂s = diag(a) − a·aᵀ", gap(slopes, a.diag() - torch.outer(a, a))),
        right("a row sums to 1", abs(float(a.sum()) - 1)),
        right("softmax(s + c) = softmax(s)", gap(of_row(s + 5, dim=0), a)),
    )


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
    return of_row(scale * lengths * normal(QUERIES, KEYS), dim=1)


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
    exact: Tensor = jacobian(lambda s: of_row(s, dim=0), row)  # type: ignore[no-untyped-call]
    one_hot = of_row(torch.tensor([0.0, *[-800.0] * (KEYS - 1)], dtype=torch.float64), dim=0)
    return measured_at(
        f"{KEYS} keys, {QUERIES:,} queries, D = {', '.join(map(str, WIDTHS))}; J by its trace",
        right("trace J = 1 − Σ_n a_n²", abs(float(exact.trace()) - float(1 - (row.exp() ** 2).sum()))),
        wrong("without 1/√D J is as large at every D", bare[narrow].mean - bare[wide].mean, LIKE).showing(*before),
        corrected("with 1/√D it is as large at every D", steady, LIKE).showing(*values),
        right("a one-hot softmax has J = 0", float(1 - (one_hot**2).sum())),
    )
