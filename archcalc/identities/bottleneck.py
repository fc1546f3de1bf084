"""A linear autoencoder with a code narrower than its input: W2·W1 is a projection, and no identity."""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor

from archcalc.identities.finding import Bound, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.linear_autoencoder import data
from archcalc.identities.measure import Normal, gap, gaussian

VARIANCES = (9.0, 5.0, 2.0, 0.6, 0.4, 0.2)  # the squared singular values of X
INPUT, CODE, LAMBDA = len(VARIANCES), 3, 0.5
ROUNDS = 120
SEARCHED = Bound(1e-10, f"{ROUNDS} rounds of least squares come that close to the optimum")


def searched(x: Tensor, lam: float, code: int, normal: Normal) -> Tensor:
    """W2·W1 at the optimum: W2 and W1 in turn by least squares, each the best for the other."""
    gram, w1, w2 = x @ x.T, normal(code, len(x)), normal(len(x), code)
    for _ in range(ROUNDS):
        w2 = torch.linalg.solve(w1 @ gram @ w1.T + lam * torch.eye(code), w1 @ gram).T
        # W2ᵀW2·W1·XXᵀ + λ·W1 = W2ᵀ·XXᵀ, with the entries of W1 in a line
        system = torch.kron(w2.T @ w2, gram) + lam * torch.eye(w1.numel())
        w1 = torch.linalg.solve(system, (w2.T @ gram).flatten()).view_as(w1)
    return torch.mm(w2, w1)


def bottleneck() -> Findings:
    """What comes back is the part of x in the k strongest directions, and λ shrinks that too."""
    normal = gaussian(seed=26)
    x, u = data(normal, VARIANCES)
    eye, kept = torch.eye(INPUT, dtype=torch.float64), u[:, :CODE] @ u[:, :CODE].T

    product = searched(x, 0.0, CODE, normal)
    off = float(torch.linalg.matrix_norm(product - eye))
    strengths = torch.linalg.svdvals(searched(x, LAMBDA, CODE, normal))[:CODE]
    shrunk = 1 - LAMBDA / torch.tensor(VARIANCES[:CODE], dtype=torch.float64)
    shrinking = f"m = {INPUT}, k = {CODE}, λ = {LAMBDA}"
    shown = (Value(f"σ² = {variance:g}", float(s)) for variance, s in zip(VARIANCES, strengths, strict=False))
    return measured_at(
        f"m = {INPUT}, k = {CODE}, λ = 0",
        wrong("W2·W1 ≈ I", off, SEARCHED).showing(Value("‖W2·W1 − I‖", off)),
        corrected("‖W2·W1 − I‖ = √(m−k)", abs(off - sqrt(INPUT - CODE)), SEARCHED),
        right("it projects onto the k strongest directions", gap(product, kept), SEARCHED),
        right("W2·W1 = I", gap(searched(x, 0.0, INPUT, normal), eye), SEARCHED)
        .only_if("k = m, λ = 0")
        .at(f"m = k = {INPUT}"),
        wrong("its k singular values are 1 for λ > 0 too", float((1 - strengths).max()), SEARCHED).at(shrinking),
        corrected("they are 1 − λ/σ²", gap(strengths, shrunk), SEARCHED).at(shrinking).showing(*shown),
    )
