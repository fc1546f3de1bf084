"""Positions that are added or looked up: sinusoids, learned rows, and learned rows for distances.

Rotary position embedding (RoPE): queries and keys rotated by an angle proportional to their position. Sinusoids come
back: the wavelength of each pair of coordinates, and how alike far positions look.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import cast

import torch
from torch import Tensor, cosine_similarity, nn
from torch.nn.functional import elu

from archcalc.identities.finding import (
    HUNDREDTH,
    WHOLE,
    Bound,
    Findings,
    Matrix,
    Value,
    corrected,
    measured_at,
    right,
    wrong,
)
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


N = 12  # positions that are rotated
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


USUAL, WIDE = 512, 4096
SPAN = 100
FAR, FARTHEST = 1_000, 2**17  # beyond two of the longest wavelengths
WIDTHS = (8, 16, 64, 512)
ALIKE = Bound(0.1, "alike is taken to mean: a cosine of 0.9 and more")


def wavelengths(d: int) -> Tensor:
    """2π·10000^(2i/d) positions, for each pair of coordinates."""
    return 2 * pi * 10_000.0 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)


def returned(d: int) -> float:
    """How far any pair is from itself one wavelength of its own later."""
    t, theta = torch.arange(SPAN, dtype=torch.float64), frequencies(d)
    pairs = zip(theta[:, None], wavelengths(d), strict=True)
    return max(gap(encoding(t, one), encoding(t + period, one)) for one, period in pairs)


def sinusoid_wavelengths() -> Findings:
    """sin tθ and cos tθ repeat after 2π/θ positions: the fastest after 2π, the slowest after nearly 2π·10000."""
    longest = {d: float(wavelengths(d)[-1]) for d in (64, USUAL, WIDE)}
    nearly = right("the longest comes back after 2π·10000", abs(longest[WIDE] / (20_000 * pi) - 1), HUNDREDTH)
    return measured_at(
        f"d = {USUAL}, t < {SPAN}",
        right("pair i comes back after 2π·10000^(2i/d)", returned(USUAL)),
        nearly.only_if("d is large: it is 2π·10000^(1−2/d)")
        .at(f"d = {WIDE:,}")
        .showing(*(Value(f"d = {d:,}", round(length)) for d, length in longest.items())),
    )


def similarity(d: int, distances: Tensor) -> Tensor:
    """The cosine of E_0 and E_k, for each distance k."""
    start = encoding(torch.zeros(1, dtype=torch.float64), frequencies(d))
    return torch.cat([cosine_similarity(start, encoding(k, frequencies(d))) for k in distances.chunk(32)])


def farthest_alike(d: int) -> Value:
    """The largest similarity from FAR on, and where it is found."""
    found = similarity(d, torch.arange(FAR, FARTHEST, dtype=torch.float64))
    return Value(f"d = {d}, k = {FAR + int(found.argmax()):,}", float(found.max()))


def sinusoid_similarity() -> Findings:
    """A sum of cosines: it falls at first, then rises and falls; in few dimensions it nearly comes back to 1."""
    k, theta = torch.arange(FAR, dtype=torch.float64), frequencies(USUAL)
    found = similarity(USUAL, k)
    cosines = (k[:, None] * theta).cos().mean(1)
    largest = [farthest_alike(d) for d in WIDTHS]
    assert isinstance(largest[0].number, float)
    alike = right(f"positions {FAR:,} and more apart look alike", 1 - largest[0].number, ALIKE).showing(*largest)
    return measured_at(
        f"d = {USUAL}, k < {FAR:,}",
        wrong("the further apart, the less alike", float((found - found.cummin(0).values).max())),
        corrected("cos(E_t, E_{t+k}) = (2/d)·Σ_i cos(kθ_i)", gap(found, cosines)),
        alike.only_if("d is small").at(f"d = {WIDTHS[0]}, {FAR:,} ≤ k < {FARTHEST:,}; largest cosine of each d"),
    )
