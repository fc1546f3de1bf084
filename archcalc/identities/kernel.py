"""Kernel attention: a similarity that is a product of features lets the sums over positions be taken once."""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor

from archcalc.identities.finding import WHOLE, Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap, gaussian

N, D, M = 10, 5, 4  # positions, width of queries and keys, width of values


def features(x: Tensor, linear: float = sqrt(2)) -> Tensor:
    """φ(x) = (1, √2·x_i, x_i², √2·x_i·x_j for i < j) for each row x: (qᵀk + 1)² multiplied out."""
    i, j = torch.triu_indices(x.shape[1], x.shape[1], offset=1)
    return torch.cat([torch.ones_like(x[:, :1]), linear * x, x**2, sqrt(2) * x[:, i] * x[:, j]], dim=1)


def feature_map() -> Findings:
    """Each x_i meets the 1 twice, 2·q_i·k_i, so each side must bring √2."""
    normal = gaussian(seed=15)
    q, k = normal(N, D), normal(N, D)
    similarity = (q @ k.T + 1) ** 2
    with_root, without = features(q) @ features(k).T, features(q, linear=1) @ features(k, linear=1).T
    tried = (1, 2, 5, 16, 64)
    off = max(abs(features(normal(1, d)).shape[1] - (d + 1) * (d + 2) // 2) for d in tried)
    return measured_at(
        f"{N} queries and keys, D = {D}",
        wrong("⟨φ(q),φ(k)⟩ = (qᵀk+1)² with x_i in φ", gap(without, similarity)),
        corrected("⟨φ(q),φ(k)⟩ = (qᵀk+1)² with √2·x_i in φ", gap(with_root, similarity)),
        right("φ has C = (D+1)(D+2)/2 features", off, WHOLE).at(f"D = {', '.join(map(str, tried))}; 64 gives 2,145"),
    )


def kernel_attention() -> Findings:
    """Σ_m sim(q_n, k_m)·v_m / Σ_m sim(q_n, k_m), from the N × N similarities and without them."""
    normal = gaussian(seed=16)
    q, k, v = normal(N, D), normal(N, D), normal(N, M)
    similarity = (q @ k.T + 1) ** 2
    every = similarity / similarity.sum(1, keepdim=True)
    earlier = similarity.tril() / similarity.tril().sum(1, keepdim=True)

    phi_q, phi_k = features(q), features(k)
    at_once = phi_q @ (phi_k.T @ v) / (phi_q @ phi_k.sum(0))[:, None]
    sums = torch.cumsum(phi_k[:, :, None] * v[:, None, :], dim=0)  # for each n, Σ_{m ≤ n} φ(k_m)·v_mᵀ
    totals = torch.cumsum(phi_k, dim=0)  # and Σ_{m ≤ n} φ(k_m)
    running = torch.einsum("nc,ncm->nm", phi_q, sums) / (phi_q * totals).sum(1, keepdim=True)
    return measured_at(
        f"N = {N}, D = {D}, M = {M}",
        right("φ(Q)(φ(K)ᵀV) = its N × N form", gap(at_once, every @ v)),
        right("causal: running sums = its masked N × N form", gap(running, earlier @ v)),
    )
