"""The linear autoencoder ‖X − W2·W1·X‖² + λ(‖W1‖² + ‖W2‖²): at its optimum W2 is W1's transpose.

With a code narrower than its input W2·W1 is a projection, and no identity. The recursive autoencoder: two vectors
become one, again and again, until a sentence is one vector.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import sqrt

import torch
from torch import Tensor, nn
from torch.autograd.functional import hessian, jacobian

from archcalc.identities.finding import WHOLE, Bound, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import Normal, filled, gap, gaussian, weights

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


class RecursiveAutoencoder(nn.Module):
    """p = tanh(W1·[x;x'] + b1), rebuilt as W2·p + b2 and classified as W3·p + b3."""

    def __init__(self, d_p: int, d_x: int, d_c: int) -> None:
        """Children of d_x, parents of d_p, d_c classes."""
        super().__init__()
        self.merge = nn.Linear(2 * d_x, d_p, dtype=torch.float64)
        self.rebuild = nn.Linear(d_p, 2 * d_x, dtype=torch.float64)
        self.classify = nn.Linear(d_p, d_c, dtype=torch.float64)

    def error(self, pair: Tensor) -> float:
        """The reconstruction error of the children from the parent."""
        return float(((self.rebuild(torch.tanh(self.merge(pair))) - pair) ** 2).sum())


def merges(autoencoder: RecursiveAutoencoder, words: list[Tensor]) -> tuple[int, int]:
    """Merges the neighbours that are best rebuilt while any two can be: how often, and how many are left."""
    count = 0
    while len(words) > 1:
        pairs = [torch.cat(two) for two in pairwise(words)]
        if any(len(pair) != autoencoder.merge.in_features for pair in pairs):
            break
        best = min(range(len(pairs)), key=lambda i: autoencoder.error(pairs[i]))
        words = [*words[:best], torch.tanh(autoencoder.merge(pairs[best])), *words[best + 2 :]]
        count += 1
    return count, len(words)


def model(d_p: int, d_x: int, d_c: int) -> RecursiveAutoencoder:
    """One with random weights: how often it merges does not depend on what it has learned."""
    return filled(lambda: RecursiveAutoencoder(d_p, d_x, d_c), gaussian(seed=19))


def recursive_autoencoder() -> Findings:
    """A parent goes where a child went before, so it must be as wide as one."""
    words, d_x = 9, 6
    sentence = list(gaussian(seed=20)(words, d_x))
    count, left = merges(model(d_x, d_x, 2), sentence)
    stuck, _ = merges(model(5, d_x, 2), sentence)
    sizes = [(6, 6, 2), (5, 7, 3), (100, 100, 5)]
    off = [weights(model(p, x, c)) - (4 * p * x + p + 2 * x + c * p + c) for p, x, c in sizes]
    shapes, here = "; ".join(f"{p}, {x}, {c}" for p, x, c in sizes), f"n = {words} words, D_x = {d_x}"
    formula = right("weights: 4·D_p·D_x + D_p + 2·D_x + D_c(D_p+1)", max(map(abs, off)), WHOLE)
    return measured_at(
        here,
        formula.at(f"D_p, D_x, D_c = {shapes}"),
        wrong("n words take n−1 merges for any D_p", abs(stuck - (words - 1)), WHOLE).at(f"{here}, D_p = 5"),
        corrected("n words take n−1 merges", abs(count - (words - 1)), WHOLE).only_if("D_p = D_x"),
        right("n−1 merges leave one vector", abs(left - 1), WHOLE),
    )


FALLING = (9.0, 5.0, 2.0, 0.6, 0.4, 0.2)  # the squared singular values of X
WIDE, NARROW, LAMBDA = len(FALLING), 3, 0.5
ROUNDS = 120
ALTERNATED = Bound(1e-10, f"{ROUNDS} rounds of least squares come that close to the optimum")


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
    x, u = data(normal, FALLING)
    eye, kept = torch.eye(WIDE, dtype=torch.float64), u[:, :NARROW] @ u[:, :NARROW].T

    product = searched(x, 0.0, NARROW, normal)
    off = float(torch.linalg.matrix_norm(product - eye))
    strengths = torch.linalg.svdvals(searched(x, LAMBDA, NARROW, normal))[:NARROW]
    shrunk = 1 - LAMBDA / torch.tensor(FALLING[:NARROW], dtype=torch.float64)
    shrinking = f"m = {WIDE}, k = {NARROW}, λ = {LAMBDA}"
    shown = (Value(f"σ² = {variance:g}", float(s)) for variance, s in zip(FALLING, strengths, strict=False))
    return measured_at(
        f"m = {WIDE}, k = {NARROW}, λ = 0",
        wrong("W2·W1 ≈ I", off, ALTERNATED).showing(Value("‖W2·W1 − I‖", off)),
        corrected("‖W2·W1 − I‖ = √(m−k)", abs(off - sqrt(WIDE - NARROW)), ALTERNATED),
        right("it projects onto the k strongest directions", gap(product, kept), ALTERNATED),
        right("W2·W1 = I", gap(searched(x, 0.0, WIDE, normal), eye), ALTERNATED)
        .only_if("k = m, λ = 0")
        .at(f"m = k = {WIDE}"),
        wrong("its k singular values are 1 for λ > 0 too", float((1 - strengths).max()), ALTERNATED).at(shrinking),
        corrected("they are 1 − λ/σ²", gap(strengths, shrunk), ALTERNATED).at(shrinking).showing(*shown),
    )
