"""The linear autoencoder ‖X − W2·W1·X‖² + λ(‖W1‖² + ‖W2‖²): at its optimum W2 is W1's transpose."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.functional import hessian, jacobian

from archcalc.identities.finding import WHOLE, Bound, Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import Normal, gap, gaussian

INPUT, CODE, SAMPLES = 12, 4, 30
# The squared singular values of X. The weakest direction that the code keeps, 1.1, decides how soon λ shows.
VARIANCES = (40.0, 20.0, 10.0, 1.1, 0.4, 0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1)
SIZES = f"m = {INPUT}, k = {CODE}, {SAMPLES} samples"
SMALLEST = 1e-13  # what is left of a step, or a tenth of what f moves by, when neither is of any more use
SEARCHED = Bound(1e-10, "a search ends when its steps are below 1e-13; rounding adds to that")


def data(normal: Normal, variances: tuple[float, ...] = VARIANCES) -> tuple[Tensor, Tensor]:
    """X with these squared singular values, and U, its directions from strong to weak."""
    inputs = len(variances)
    u, v = torch.linalg.qr(normal(inputs, inputs)).Q, torch.linalg.qr(normal(SAMPLES, inputs)).Q
    return u @ torch.tensor(variances, dtype=torch.float64).sqrt().diag() @ v.T, u


def loss(x: Tensor, w1: Tensor, w2: Tensor, lam: float) -> Tensor:
    """‖X − W2·W1·X‖² + λ(‖W1‖² + ‖W2‖²)."""
    return ((x - w2 @ w1 @ x) ** 2).sum() + lam * ((w1**2).sum() + (w2**2).sum())


def closed_form(u: Tensor, lam: float) -> tuple[Tensor, Tensor]:
    """W1 = diag(s)·U_kᵀ and W2 its transpose.

    Along a direction of variance σ² the loss is then σ²(1−s²)² + 2λs², least at s² = 1 − λ/σ².
    """
    s = (1 - lam / torch.tensor(VARIANCES[:CODE], dtype=torch.float64)).sqrt()
    return (u[:, :CODE] * s).T, u[:, :CODE] * s


def newton_step(f: Callable[[Tensor], Tensor], w: Tensor) -> Tensor:
    """Newton's step with every curvature taken as positive, to leave saddles; halved until f falls."""
    gradient: Tensor = jacobian(f, w)  # type: ignore[no-untyped-call]
    second: Tensor = hessian(f, w, vectorize=True)  # type: ignore[no-untyped-call]
    curvatures, directions = torch.linalg.eigh(second)
    step: Tensor = -directions @ ((directions.T @ gradient) / curvatures.abs().clamp(min=1e-3))
    while f(w + step) > f(w) + 10 * SMALLEST:
        step = step / 2
    return step


def optimised(x: Tensor, lam: float, normal: Normal) -> tuple[Tensor, Tensor]:
    """From a random start, with W1 and W2 free of each other, until the steps are down to rounding."""

    def both(w: Tensor) -> tuple[Tensor, Tensor]:
        return w[: CODE * INPUT].view(CODE, INPUT), w[CODE * INPUT :].view(INPUT, CODE)

    w = normal(2 * CODE * INPUT)
    for _ in range(100):
        step = newton_step(lambda w: loss(x, *both(w), lam), w)
        w = w + step
        if step.abs().max() < SMALLEST:
            break
    return both(w)


def slope(x: Tensor, w1: Tensor, w2: Tensor, lam: float) -> float:
    """The largest entry of the loss's gradient."""
    w1, w2 = w1.clone().requires_grad_(), w2.clone().requires_grad_()
    return max(float(g.abs().max()) for g in torch.autograd.grad(loss(x, w1, w2, lam), (w1, w2)))


def linear_autoencoder() -> Findings:
    """The optimum keeps the k strongest directions, each shrunk by the same factor on its way in and out."""
    normal = gaussian(seed=18)
    x, u = data(normal)
    lam = 0.5
    w1, w2 = closed_form(u, lam)
    found = optimised(x, lam, normal)
    excess = float(loss(x, *found, lam) - loss(x, w1, w2, lam))
    return measured_at(
        f"{SIZES}, λ = {lam}",
        right("W1 = √(1−λ/σ²)·Uᵀ, W2 = W1ᵀ: gradient 0", slope(x, w1, w2, lam)),
        right("a free search for both ends at the same loss", abs(excess), SEARCHED),
        right("2·m·k weights", abs(w1.numel() + w2.numel() - 2 * INPUT * CODE), WHOLE),
    )


def from_pseudo_inverse(w1: Tensor, w2: Tensor) -> float:
    """|W2 − W1⁺|, root mean square over its entries: rotating the code, which is free, does not change it."""
    return float((w2 - torch.linalg.pinv(w1)).square().mean().sqrt())


def pseudo_inverse() -> Findings:
    """Without λ, W2·W1 is a projection and W2 = W1⁺; λ shrinks both, where W1⁺ grows as W1 shrinks."""
    normal = gaussian(seed=18)
    x, u = data(normal)
    half, hundredth = optimised(x, 0.5, normal), optimised(x, 0.01, normal)
    vanishing = 1e-10
    limit = Bound(vanishing, "λ/σ² for every direction kept, and σ² > 1")
    return measured_at(
        f"{SIZES}; |W2 − W1⁺| as root mean square",
        wrong("W2 = W1⁺ at λ = 0.5", from_pseudo_inverse(*half), SEARCHED),
        corrected("W2 = W1ᵀ at λ = 0.5", gap(half[1], half[0].T), SEARCHED),
        wrong("W2 = W1⁺ at λ = 0.01", from_pseudo_inverse(*hundredth), SEARCHED),
        corrected("W2 = W1ᵀ at λ = 0.01", gap(hundredth[1], hundredth[0].T), SEARCHED),
        right("W2 = W1⁺", from_pseudo_inverse(*closed_form(u, vanishing)), limit)
        .only_if("λ → 0")
        .at(f"{SIZES}, λ = {vanishing:g}"),
    )
