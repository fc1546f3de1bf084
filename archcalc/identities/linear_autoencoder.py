"""The linear autoencoder ‖X − W2·W1·X‖² + λ(‖W1‖² + ‖W2‖²): at its optimum W2 is W1's transpose."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.functional import hessian, jacobian

from archcalc.identities.finding import Findings, corrected, right, wrong
from archcalc.identities.measure import Normal, gap, gaussian

INPUT, CODE, SAMPLES = 12, 4, 30
# The squared singular values of X. The weakest direction that the code still keeps, 1.1, decides how soon λ shows.
VARIANCES = (40.0, 20.0, 10.0, 1.1, 0.4, 0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1)


def data(normal: Normal) -> tuple[Tensor, Tensor]:
    """X with these singular values, and U, its directions from strong to weak."""
    u, v = torch.linalg.qr(normal(INPUT, INPUT)).Q, torch.linalg.qr(normal(SAMPLES, INPUT)).Q
    return u @ torch.tensor(VARIANCES, dtype=torch.float64).sqrt().diag() @ v.T, u


def loss(x: Tensor, w1: Tensor, w2: Tensor, lam: float) -> Tensor:
    return ((x - w2 @ w1 @ x) ** 2).sum() + lam * ((w1**2).sum() + (w2**2).sum())


def closed_form(u: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """W1 = diag(s)·U_kᵀ and W2 its transpose: along a direction of variance σ² the loss is
    σ²(1−s²)² + 2λs², least at s² = 1 − λ/σ²."""
    s = (1 - lam / torch.tensor(VARIANCES[:CODE], dtype=torch.float64)).sqrt()
    return (u[:, :CODE] * s).T, u[:, :CODE] * s


def newton_step(f: Callable[[Tensor], Tensor], w: Tensor) -> Tensor:
    """Newton's step with every curvature taken as positive, which leads away from saddles; halved until f falls."""
    slope: Tensor = jacobian(f, w)  # type: ignore[no-untyped-call]
    hessian_at_w: Tensor = hessian(f, w, vectorize=True)  # type: ignore[no-untyped-call]
    curvatures, directions = torch.linalg.eigh(hessian_at_w)
    step = -directions @ ((directions.T @ slope) / curvatures.abs().clamp(min=1e-3))
    while f(w + step) > f(w) + 1e-12:  # rounding alone moves f by less
        step = step / 2
    return step


def optimised(x: Tensor, lam: float, normal: Normal) -> tuple[Tensor, Tensor]:
    """From a random start, with W1 and W2 free of each other, until the steps are down to rounding."""

    def unpacked(w: Tensor) -> tuple[Tensor, Tensor]:
        return w[0].view(CODE, INPUT), w[1].view(INPUT, CODE)

    w = normal(2 * CODE * INPUT)
    for _ in range(100):
        step = newton_step(lambda w: loss(x, *unpacked(w.view(2, -1)), lam), w)
        w = w + step
        if step.abs().max() < 1e-13:
            break
    return unpacked(w.view(2, -1))


def from_pseudo_inverse(w1: Tensor, w2: Tensor) -> float:
    """|W2 − W1⁺|, root mean square over the entries: the code may be turned freely, and this does not change then."""
    return float((w2 - torch.linalg.pinv(w1)).square().mean().sqrt())


def linear_autoencoder() -> Findings:
    normal = gaussian(seed=18)
    x, u = data(normal)
    found = {lam: optimised(x, lam, normal) for lam in (0.5, 0.01)}
    best = {lam: closed_form(u, lam) for lam in (0.5, 0.01)}

    def slope(w1: Tensor, w2: Tensor, lam: float) -> float:
        w1, w2 = w1.clone().requires_grad_(), w2.clone().requires_grad_()
        return max(float(g.abs().max()) for g in torch.autograd.grad(loss(x, w1, w2, lam), (w1, w2)))

    excess = max(float((loss(x, *found[lam], lam) - loss(x, *best[lam], lam)).abs()) for lam in found)
    at_half = wrong("W2 = W1⁺ at λ = 0.5 (root mean square)", from_pseudo_inverse(*found[0.5]))
    at_hundredth = wrong("W2 = W1⁺ at λ = 0.01 (root mean square)", from_pseudo_inverse(*found[0.01]))
    w1, w2 = found[0.5]
    return (
        right("W1 = √(1−λ/σ²)·Uᵀ, W2 = W1ᵀ: the slope is 0", max(slope(*best[lam], lam) for lam in best)),
        right("a free search (Newton) ends at the same loss", excess),
        at_half,
        corrected("W2 = W1ᵀ at λ = 0.5", gap(found[0.5][1], found[0.5][0].T), of=at_half),
        at_hundredth,
        corrected("W2 = W1ᵀ at λ = 0.01", gap(found[0.01][1], found[0.01][0].T), of=at_hundredth),
        right("W2 → W1⁺ as λ → 0 (λ = 10⁻¹⁰)", from_pseudo_inverse(*closed_form(u, 1e-10))),
        right("2·m·k weights", abs(w1.numel() + w2.numel() - 2 * INPUT * CODE)),
    )
