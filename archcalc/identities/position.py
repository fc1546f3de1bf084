"""Positions that are added or looked up: sinusoids, learned rows, and learned rows for distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn

from archcalc.identities.finding import WHOLE, Bound, Findings, Matrix, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap, gaussian, weights

D = 16


def frequencies(d: int, sign: int = -1) -> Tensor:
    """θ_i = 10000^(−2i/d), one for each pair of coordinates; with sign 1 they grow, which is a known mistake."""
    return 10_000.0 ** (sign * torch.arange(0, d, 2, dtype=torch.float64) / d)


def encoding(positions: Tensor, theta: Tensor) -> Tensor:
    """E_t = (sin tθ_0, cos tθ_0, sin tθ_1, cos tθ_1, …), a row for each position."""
    angles = positions[:, None] * theta
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def shift(k: float, theta: Tensor) -> Tensor:
    """T(k): blocks ((cos kθ_i, sin kθ_i), (−sin kθ_i, cos kθ_i)) along its diagonal, and nothing that knows of t."""
    even = 2 * torch.arange(len(theta))
    rotation = torch.zeros(2 * len(theta), 2 * len(theta), dtype=torch.float64)
    rotation[even, even] = rotation[even + 1, even + 1] = (k * theta).cos()
    rotation[even, even + 1] = (k * theta).sin()
    rotation[even + 1, even] = -(k * theta).sin()
    return rotation


def sinusoidal() -> Findings:
    """By the addition theorems of sin and cos, a step of k is the same rotation wherever it starts."""
    t, theta = torch.arange(100, dtype=torch.float64), frequencies(D)
    steps = (-7, 1, 5, 40)
    named = ", ".join(map(str, steps)).replace("-", "−")
    moved = max(gap(encoding(t, theta) @ shift(k, theta).T, encoding(t + k, theta)) for k in steps)
    turned = max(gap(shift(k, theta).T @ shift(k, theta), torch.eye(D, dtype=torch.float64)) for k in steps)
    products = (encoding(t, theta) * encoding(t + 5, theta)).sum(1)
    return measured_at(
        f"d = {D}, t < {len(t)}, k = {named}",
        right("T(k)·E_t = E_{t+k}, one T(k) for all t", moved),
        right("T(k) is a rotation: T(k)ᵀ·T(k) = I", turned),
        right("T(j)·T(k) = T(j+k)", gap(shift(3, theta) @ shift(8, theta), shift(11, theta))),
        right("E_tᵀE_{t+k} = Σ_i cos(kθ_i), whatever t", gap(products, (5 * theta).cos().sum().expand(100))),
    )


def learned_positions() -> Findings:
    """A table with a row for each position, free to be anything; a row never reached stays as it was."""
    max_len, seen = 64, 40
    normal = gaussian(seed=10)
    table = nn.Embedding(max_len, D, _weight=normal(max_len, D))
    outputs = torch.tanh(normal(seen, D) + table(torch.arange(seen)))
    (learned,) = torch.autograd.grad((outputs**2).sum(), [table.weight])
    return measured_at(
        f"max_len = {max_len}, {seen} of them seen, d_model = {D}",
        right("learned positions: max_len·d_model parameters", abs(weights(table) - max_len * D), WHOLE),
        right("positions not seen in training learn nothing", float(learned[seen:].abs().max())),
    )


def relative_positions() -> Findings:
    """Scores q_iᵀ(k_j + r_{j−i}), a learned row r for each distance; distances beyond K share the last."""
    reach, words = 3, 6
    normal = gaussian(seed=21)
    rows = nn.Embedding(2 * reach + 1, D, _weight=normal(2 * reach + 1, D)).requires_grad_(False)
    word = normal(words, D)
    x = torch.cat([word, word])  # the same words twice: at i and at i + 6
    i = torch.arange(len(x))
    distance = (i[None, :] - i[:, None]).clamp(-reach, reach)
    scores = x @ x.T + torch.einsum("id,ijd->ij", x, rows(distance + reach))
    first, again = scores[:words, :words], scores[words:, words:]
    return measured_at(
        f"{words} words twice, K = {reach}, d_head = {D}",
        right("relative: scores depend on the distance only", gap(first, again)),
        right("relative: (2K+1)·d_head parameters", abs(weights(rows) - (2 * reach + 1) * D), WHOLE),
    )


NARROW, LENGTH, STEPS = 8, 20, range(1, 10)
SMALL = 4  # the d of the T(1) that is printed
# Three angles of at most 2.9 that are no whole numbers, a sine or cosine of each, two products and a sum.
FEW_ROUNDINGS = Bound(2e-15, "rounding, 1.1e-16 each for three angles below 3 and six operations on them")


def largest_miss(matrix: Callable[[int], Tensor]) -> float:
    """How far matrix(k)·E_t is from E_{t+k} at most, over all t and k."""
    theta, t = frequencies(NARROW), torch.arange(LENGTH, dtype=torch.float64)
    return max(gap(encoding(t, theta) @ matrix(k).T, encoding(t + k, theta)) for k in STEPS)


def shift_matrix() -> Findings:
    """The sine above the diagonal is positive, as E_t has the sine first; frequencies fall with i."""
    theta = frequencies(NARROW)
    upwards = frequencies(NARROW, sign=1)
    moved = largest_miss(lambda k: shift(k, theta))
    moved_back = largest_miss(lambda k: shift(k, theta).T)
    upright = corrected("+sin above the diagonal: T(k)·E_t = E_{t+k}", moved, FEW_ROUNDINGS)
    first = cast("Matrix", tuple(map(tuple, shift(1, frequencies(SMALL)).tolist())))
    back = max(gap(shift(k, theta).T, shift(-k, theta)) for k in STEPS)
    return measured_at(
        f"d = {NARROW}, t < {LENGTH}, k = {STEPS[0]} … {STEPS[-1]}",
        wrong("T(k) transposed: −sin above the diagonal", moved_back, FEW_ROUNDINGS),
        upright.showing(Value(f"T(1) for d = {SMALL}", first)),
        wrong("T(k) with θ_i = 10000^(+2i/d)", largest_miss(lambda k: shift(k, upwards)), FEW_ROUNDINGS),
        corrected("θ_i = 10000^(−2i/d) in T(k) as in E_t", moved, FEW_ROUNDINGS),
        right("the transpose goes back: T(k)ᵀ = T(−k)", back),
    )
