"""One head of self-attention: what its output is, why its scores are scaled, what order means to it."""

from __future__ import annotations

from itertools import product
from math import exp, prod, sqrt

import torch
from torch import Tensor, softmax
from torch.nn.functional import pad

from archcalc.identities.finding import Bound, Findings, Value, corrected, measured_at, right, sampling, wrong
from archcalc.identities.measure import gap, gaussian

N = 8  # inputs
NEAR = Bound(0.01, "y_n ≈ x_n is taken to mean: to a hundredth")


def plain(x: Tensor) -> tuple[Tensor, Tensor]:
    """Weights a_nm = softmax over m of x_nᵀx_m, and outputs y_n = Σ_m a_nm·x_m."""
    a = softmax(x @ x.T, dim=1)
    return a, a @ x


def orthogonal_inputs() -> Findings:
    """The score of an input with itself is ‖x‖² and every other is 0: by how much it wins depends on ‖x‖."""
    axes = torch.eye(N, dtype=torch.float64)

    def miss(norm: float) -> float:
        return gap(plain(norm * axes)[1], norm * axes)

    turned = torch.linalg.qr(gaussian(seed=3)(N, N)).Q  # orthogonal too, but along no axis
    a_nn = exp(1) / (N - 1 + exp(1))
    a_nm = (1 - a_nn) / (N - 1)
    a, y = plain(turned)
    mixed = a_nn * turned + a_nm * (turned.sum(0) - turned)
    return measured_at(
        f"N = {N}, ‖x‖ = 1",
        wrong("y_n = x_n for orthogonal inputs", miss(1.0), NEAR),
        corrected("y_n = a_nn·x_n + (1−a_nn)·mean of others", gap(y, mixed)),
        right("a_nn = e^‖x‖²/(N−1+e^‖x‖²)", gap(a.diagonal(), torch.full_like(a[0], a_nn))),
        right("y_n ≈ x_n", miss(3.0), NEAR).only_if("e^‖x‖² ≫ N").at(f"N = {N}, ‖x‖ = 3"),
    )


# The three-point Gauss-Hermite rule: sums over it equal a normal variable's moments exactly, up to the fifth.
POINTS = ((-sqrt(3), 1 / 6), (0.0, 2 / 3), (sqrt(3), 1 / 6))


def expectation(dims: int) -> tuple[Tensor, Tensor, Tensor]:
    """Every pair of grid vectors a, b in `dims` dimensions, and its weight: an exact stand-in for N(0, I)."""
    grid = list(product(POINTS, repeat=2 * dims))
    points = torch.tensor([[at for at, _ in point] for point in grid], dtype=torch.float64)
    weight = torch.tensor([prod(w for _, w in point) for point in grid], dtype=torch.float64)
    return points[:, :dims], points[:, dims:], weight


def score_variance() -> Findings:
    """aᵀb grows like √D, hence the 1/√D; its terms a_i·b_i have variance 1 without being normal."""
    dims, samples = 64, 20_000
    normal = gaussian(seed=4)
    squares = (normal(samples, dims) * normal(samples, dims)).sum(1) ** 2
    sampled, error = float(squares.mean()), float(squares.std()) / sqrt(samples)

    a, b, weight = expectation(dims=3)
    dots = (a * b).sum(1)
    term = a[:, 0] * b[:, 0]
    variance, fourth = float(weight @ term**2), float(weight @ term**4)
    kurtosis = fourth / variance**2
    return measured_at(
        "D = 3, by quadrature that is exact for these moments",
        right("E[(aᵀb)²] = D", abs(float(weight @ dots**2) - 3)),
        right("E[(aᵀb/√D)²] = 1", abs(float(weight @ (dots / sqrt(3)) ** 2) - 1)),
        right("E[(aᵀb)²] = D, sampled", abs(sampled - dims), sampling(error, samples))
        .at(f"D = {dims}, {samples:,} samples")
        .showing(Value("E[(aᵀb)²]", sampled, error)),
        wrong("a_i·b_i is normal (so its kurtosis is 3)", abs(kurtosis - 3)),
        corrected("a_i·b_i is not normal: its kurtosis is 9", abs(kurtosis - 9)),
        right("a_i·b_i has variance 1 all the same", abs(variance - 1)),
    )


def permutation() -> Findings:
    """Self-attention is permutation-equivariant: reordering the inputs reorders the outputs."""
    normal = gaussian(seed=5)
    w_q, w_k, w_v = normal(4, 4), normal(4, 4), normal(4, 4)

    def f(x: Tensor) -> Tensor:
        """One head with random weights."""
        return softmax((x @ w_q) @ (x @ w_k).T / sqrt(4), dim=1) @ (x @ w_v)

    x, e = normal(N, 4), normal(N, 4)  # inputs, and an encoding for each position
    order = [3, 0, 7, 1, 6, 2, 5, 4]
    return measured_at(
        f"N = {N}, D = {x.shape[1]}",
        right("f(P·X) = P·f(X)", gap(f(x[order]), f(x)[order])).only_if("no position is encoded"),
        wrong("f(P·X + E) = P·f(X + E), positions E added", gap(f(x[order] + e), f(x + e)[order])),
        corrected("f(P·(X + E)) = P·f(X + E): E moves along", gap(f((x + e)[order]), f(x + e)[order])),
    )


WIDTHS = (1, 2, 4, 16, 64, 128)
HEAD, SHOWN = 64, (1, 16, 64)
# The product of two three-point Gauss-Hermite rules (nodes ±√3 and 0): it is −3, 0 or 3. A term q_i·k_i has the same
# moments up to the fifth, so the sum of D such terms has the second and fourth moments of q·k to the last digit.
STEP, ASIDE, MIDDLE = 3.0, 1 / 18, 8 / 9
CLOSE = Bound(0.1, "close to normal is taken to mean: a kurtosis of 3 to a tenth")


def law(d: int) -> tuple[Tensor, Tensor]:
    """The places of the sum of d terms and their probabilities: the law of one term convolved d times."""
    probability = torch.ones(1, dtype=torch.float64)
    for _ in range(d):
        lower, same, upper = (pad(probability, sides) for sides in ((0, 2), (1, 1), (2, 0)))
        probability = ASIDE * lower + MIDDLE * same + ASIDE * upper
    return STEP * torch.arange(-d, d + 1, dtype=torch.float64), probability


def variance_and_kurtosis(d: int) -> tuple[float, float]:
    """E[s²] and E[s⁴]/E[s²]² of s = q·k. The kurtosis of every normal variable is 3."""
    place, probability = law(d)
    second, fourth = float(probability @ place**2), float(probability @ place**4)
    return second, fourth / second**2


def score_law() -> Findings:
    """Given q, the score is normal with variance ‖q‖²; over all q it is a mixture, with longer tails."""
    known = {d: variance_and_kurtosis(d) for d in WIDTHS}
    variance = max(abs(second / d - 1) for d, (second, _) in known.items())
    off = max(abs(kurtosis - (3 + 6 / d)) for d, (_, kurtosis) in known.items())
    too_large = abs(known[HEAD][1] - 3)
    return measured_at(
        f"D = {', '.join(map(str, WIDTHS))}",
        wrong("q·k is normal: its kurtosis is 3", too_large).at(f"D = {HEAD}"),
        corrected("its kurtosis is 3 + 6/D", off).showing(*(Value(f"D = {d}", known[d][1]) for d in SHOWN)),
        right("its variance is D all the same", variance),
        right("q·k is close to normal", too_large, CLOSE).only_if("D ≫ 6").at(f"D = {HEAD}"),
    )
