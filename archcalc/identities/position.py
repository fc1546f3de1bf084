"""Positions that are added or looked up: sinusoids, learned rows, and learned rows for distances."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from archcalc.identities.finding import Findings, right
from archcalc.identities.measure import gap, gaussian, weights

D = 16
EVEN, ODD = torch.arange(0, D, 2), torch.arange(1, D, 2)
THETA = 10_000.0 ** (-EVEN.double() / D)  # θ_i: a frequency for each pair of coordinates


def encoding(positions: Tensor) -> Tensor:
    """E_t = (sin tθ_0, cos tθ_0, sin tθ_1, cos tθ_1, …), a row for each position."""
    angles = positions[:, None] * THETA
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def shift(k: float) -> Tensor:
    """T(k): along its diagonal a rotation by kθ_i for each pair, and nothing that knows of t."""
    rotation = torch.zeros(D, D, dtype=torch.float64)
    rotation[EVEN, EVEN] = rotation[ODD, ODD] = (k * THETA).cos()
    rotation[EVEN, ODD] = (k * THETA).sin()
    rotation[ODD, EVEN] = -(k * THETA).sin()
    return rotation


def sinusoidal() -> Findings:
    """By the addition theorems of sin and cos, a step of k is the same rotation wherever it starts."""
    t = torch.arange(100, dtype=torch.float64)
    steps = (-7, 1, 5, 40)
    moved = max(gap(encoding(t) @ shift(k).T, encoding(t + k)) for k in steps)
    turned = max(gap(shift(k).T @ shift(k), torch.eye(D, dtype=torch.float64)) for k in steps)
    products = (encoding(t) * encoding(t + 5)).sum(1)
    return (
        right("T(k)·E_t = E_{t+k}, one T(k) for all t", moved),
        right("T(k) is a rotation: T(k)ᵀ·T(k) = I", turned),
        right("T(j)·T(k) = T(j+k)", gap(shift(3) @ shift(8), shift(11))),
        right("E_tᵀE_{t+k} = Σ_i cos(kθ_i), whatever t", gap(products, (5 * THETA).cos().sum().expand(100))),
    )


def learned_positions() -> Findings:
    """A table with a row for each position, free to be anything; a row never reached stays as it was."""
    max_len, seen = 64, 40
    normal = gaussian(seed=10)
    table = nn.Embedding(max_len, D, _weight=normal(max_len, D))
    outputs = torch.tanh(normal(seen, D) + table(torch.arange(seen)))
    (learned,) = torch.autograd.grad((outputs**2).sum(), [table.weight])
    return (
        right("learned positions: max_len·d_model parameters", abs(weights(table) - max_len * D)),
        right("positions never reached in training learn nothing", float(learned[seen:].abs().max())),
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
    return (
        right("relative: equal words n places on score equally", gap(first, again)),
        right("relative: (2K+1)·d_head parameters", abs(weights(rows) - (2 * reach + 1) * D)),
    )
