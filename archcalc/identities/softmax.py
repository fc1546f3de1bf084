"""What softmax does to a row of scores: no entry becomes zero, and none is computed without the others."""

from __future__ import annotations

import torch
from torch import Tensor
from torch import softmax as of_row
from torch.autograd.functional import jacobian

from archcalc.identities.finding import WHOLE, Findings, Value, corrected, measured_at, right, wrong
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
