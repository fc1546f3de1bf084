"""The matrix T(k) that moves a sinusoidal encoding on by k places: its signs, its frequencies, and T(1) itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from archcalc.identities.finding import Bound, Findings, Matrix, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap
from archcalc.identities.position import encoding, frequencies, shift

D, LENGTH, STEPS = 8, 20, range(1, 10)
SMALL = 4  # the d of the T(1) that is printed
# Three angles of at most 2.9 that are no whole numbers, a sine or cosine of each, two products and a sum.
FEW_ROUNDINGS = Bound(2e-15, "rounding, 1.1e-16 each for three angles below 3 and six operations on them")


def largest_miss(matrix: Callable[[int], Tensor]) -> float:
    """How far matrix(k)·E_t is from E_{t+k} at most, over all t and k."""
    theta, t = frequencies(D), torch.arange(LENGTH, dtype=torch.float64)
    return max(gap(encoding(t, theta) @ matrix(k).T, encoding(t + k, theta)) for k in STEPS)


def shift_matrix() -> Findings:
    """The sine above the diagonal is positive, as E_t has the sine first; frequencies fall with i."""
    theta = frequencies(D)
    upwards = frequencies(D, sign=1)
    moved = largest_miss(lambda k: shift(k, theta))
    moved_back = largest_miss(lambda k: shift(k, theta).T)
    upright = corrected("+sin above the diagonal: T(k)·E_t = E_{t+k}", moved, FEW_ROUNDINGS)
    first = cast("Matrix", tuple(map(tuple, shift(1, frequencies(SMALL)).tolist())))
    back = max(gap(shift(k, theta).T, shift(-k, theta)) for k in STEPS)
    return measured_at(
        f"d = {D}, t < {LENGTH}, k = {STEPS[0]} … {STEPS[-1]}",
        wrong("T(k) transposed: −sin above the diagonal", moved_back, FEW_ROUNDINGS),
        upright.showing(Value(f"T(1) for d = {SMALL}", first)),
        wrong("T(k) with θ_i = 10000^(+2i/d)", largest_miss(lambda k: shift(k, upwards)), FEW_ROUNDINGS),
        corrected("θ_i = 10000^(−2i/d) in T(k) as in E_t", moved, FEW_ROUNDINGS),
        right("the transpose goes back: T(k)ᵀ = T(−k)", back),
    )
