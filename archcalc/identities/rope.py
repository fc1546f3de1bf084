"""Rotary position embedding (RoPE): queries and keys rotated by an angle proportional to their position."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import elu

from archcalc.identities.finding import Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap, gaussian
from archcalc.identities.position import frequencies

N, D = 12, 16
SIZES = f"{N} positions, d_head = {D}"


def rotated(x: Tensor, positions: Tensor) -> Tensor:
    """Each pair (x_2i, x_2i+1) of a row turned by its position times θ_i. There is nothing to learn in it."""
    angles = positions[..., None] * frequencies(x.shape[-1])
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(turned, dim=-1).flatten(-2)


def rope() -> Findings:
    """(R_m·q)ᵀ(R_n·k) = qᵀR_{n−m}·k: two rotations by m and n leave one by their difference."""
    normal = gaussian(seed=11)
    q, k = normal(N, D), normal(N, D)
    at = torch.arange(N, dtype=torch.float64)
    scores = rotated(q, at) @ rotated(k, at).T
    later = rotated(q, at + 100) @ rotated(k, at + 100).T
    between = rotated(k[None, :], at[None, :] - at[:, None])  # row m, column n: R_{n−m}·k_n
    return measured_at(
        SIZES,
        right("RoPE: ‖R_m·q‖ = ‖q‖", gap(rotated(q, at).norm(dim=1), q.norm(dim=1))),
        right("RoPE: (R_m·q)ᵀ(R_n·k) = qᵀR_{n−m}·k", gap(scores, torch.einsum("md,mnd->mn", q, between))),
        right("RoPE: the same scores at all positions + 100", gap(scores, later)),
    )


def rope_linear_attention() -> Findings:
    """It turns q and k, not the N × N scores, so it goes into running sums; a bias on the scores could not.

    The sum below the line is left unturned, as turned features can have negative products.
    """
    normal = gaussian(seed=12)
    q, k, v = elu(normal(N, D)) + 1, elu(normal(N, D)) + 1, normal(N, D)
    at = torch.arange(N, dtype=torch.float64)
    outputs = []
    state, total = torch.zeros(D, D, dtype=torch.float64), torch.zeros(D, dtype=torch.float64)
    for m in range(N):
        state = state + torch.outer(rotated(k[m], at[m]), v[m])
        total = total + k[m]
        outputs.append(rotated(q[m], at[m]) @ state / (q[m] @ total))

    between = rotated(k[None, :], at[None, :] - at[:, None])
    weights = torch.einsum("md,mnd->mn", q, between).tril() / (q @ k.T).tril().sum(1, keepdim=True)
    apart = gap(torch.stack(outputs), weights @ v)
    return measured_at(SIZES, right("linear attention: running sums = R_{n−m} form", apart))


def rope_decay() -> Findings:
    """The score at distance s is the real part of Σ_i h_i·e^{isθ_i}, h_i the i-th pairs of q, k multiplied.

    Summed by parts, with S_j = Σ_{i<j} e^{isθ_i}, it is at most max|h_{i+1}−h_i|·Σ|S_j|: that is the envelope
    (Su et al. 2021). It falls too on the whole only, not at every step.
    """
    d, reach = 128, 4096
    s = torch.arange(1, reach, dtype=torch.float64)
    turns = torch.exp(1j * s[:, None] * frequencies(d))
    partial = turns.cumsum(1)  # S_1, S_2, …
    ones = partial[:, -1].real / (d // 2)  # the score of q = k = (1, 1, …), which is 1 at distance 0
    envelope = partial.abs().sum(1)
    octaves = torch.stack([envelope[2**n - 1 : 2 ** (n + 1) - 1].mean() for n in range(12)]) / (d // 2)

    normal = gaussian(seed=13)
    pairs = torch.view_as_complex(normal(d // 2, 2)) * torch.view_as_complex(normal(d // 2, 2)).conj()
    score = (turns @ pairs).real
    jump = pairs.diff(append=torch.zeros(1, dtype=pairs.dtype)).abs().max()
    above = (score.abs() - jump * envelope).clamp(min=0)

    envelope_falls = corrected("RoPE: its envelope falls, octave by octave", rise(octaves))
    return measured_at(
        f"d_head = {d}, distances below {reach:,}",
        wrong("RoPE: the score falls with every step away", rise(ones)),
        envelope_falls.only_if("distances stay below 4,096; from 8,192 on it falls no further"),
        right("RoPE: |score| ≤ max|h_{i+1}−h_i|·Σ_j|S_j|", float(above.max())),
    )


def rise(series: Tensor) -> float:
    """By how much the series goes up at most from one place to the next; 0 if it never does."""
    return float(series.diff().clamp(min=0).max())
