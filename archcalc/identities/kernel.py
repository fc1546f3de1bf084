"""Kernel attention: a similarity that is a product of features lets the sums over positions be taken once.

What it and softmax attention cost is counted from the products and tensors that PyTorch makes.
"""

from __future__ import annotations

from bisect import bisect_left
from math import sqrt

import torch
from torch import Tensor, softmax

from archcalc.identities.finding import HUNDREDTH, WHOLE, Bound, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import elements, flops, gap, gaussian, unfilled

FEW, KEY, VALUE = 10, 5, 4  # positions, width of queries and keys, width of values


def features(x: Tensor, linear: float = sqrt(2)) -> Tensor:
    """φ(x) = (1, √2·x_i, x_i², √2·x_i·x_j for i < j) for each row x: (qᵀk + 1)² multiplied out."""
    i, j = torch.triu_indices(x.shape[1], x.shape[1], offset=1)
    return torch.cat([torch.ones_like(x[:, :1]), linear * x, x**2, sqrt(2) * x[:, i] * x[:, j]], dim=1)


def feature_map() -> Findings:
    """Each x_i meets the 1 twice, 2·q_i·k_i, so each side must bring √2."""
    normal = gaussian(seed=15)
    q, k = normal(FEW, KEY), normal(FEW, KEY)
    similarity = (q @ k.T + 1) ** 2
    with_root, without = features(q) @ features(k).T, features(q, linear=1) @ features(k, linear=1).T
    tried = (1, 2, 5, 16, 64)
    off = max(abs(features(normal(1, d)).shape[1] - (d + 1) * (d + 2) // 2) for d in tried)
    return measured_at(
        f"{FEW} queries and keys, D = {KEY}",
        wrong("⟨φ(q),φ(k)⟩ = (qᵀk+1)² with x_i in φ", gap(without, similarity)),
        corrected("⟨φ(q),φ(k)⟩ = (qᵀk+1)² with √2·x_i in φ", gap(with_root, similarity)),
        right("φ has C = (D+1)(D+2)/2 features", off, WHOLE).at(f"D = {', '.join(map(str, tried))}; 64 gives 2,145"),
    )


def kernel_attention() -> Findings:
    """Σ_m sim(q_n, k_m)·v_m / Σ_m sim(q_n, k_m), from the N × N similarities and without them."""
    normal = gaussian(seed=16)
    q, k, v = normal(FEW, KEY), normal(FEW, KEY), normal(FEW, VALUE)
    similarity = (q @ k.T + 1) ** 2
    every = similarity / similarity.sum(1, keepdim=True)
    earlier = similarity.tril() / similarity.tril().sum(1, keepdim=True)

    phi_q, phi_k = features(q), features(k)
    at_once = phi_q @ (phi_k.T @ v) / (phi_q @ phi_k.sum(0))[:, None]
    sums = torch.cumsum(phi_k[:, :, None] * v[:, None, :], dim=0)  # for each n, Σ_{m ≤ n} φ(k_m)·v_mᵀ
    totals = torch.cumsum(phi_k, dim=0)  # and Σ_{m ≤ n} φ(k_m)
    running = torch.einsum("nc,ncm->nm", phi_q, sums) / (phi_q * totals).sum(1, keepdim=True)
    return measured_at(
        f"N = {FEW}, D = {KEY}, M = {VALUE}",
        right("φ(Q)(φ(K)ᵀV) = its N × N form", gap(at_once, every @ v)),
        right("causal: running sums = its masked N × N form", gap(running, earlier @ v)),
    )


N, D, M = 48, 16, 24
SIZES = f"N = {N}, D = {D}, M = {M}"
ABOUT = Bound(0.05, "about D² is taken to mean: to a twentieth")


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Softmax attention as it is written, with every intermediate result kept whole."""
    return softmax(q @ k.T, dim=1) @ v


def kernel_attend(phi_q: Tensor, phi_k: Tensor, v: Tensor) -> Tensor:
    """The numerator: its two products are all that grows with C·M."""
    return phi_q @ (phi_k.T @ v)


def width(d: int) -> int:
    """C, the number of features of (qᵀk+1)²."""
    return (d + 1) * (d + 2) // 2


def softmax_flops(n: int, d: int, m: int) -> int:
    """Of n queries and keys of width d and values of width m."""
    return flops(attend, unfilled(n, d), unfilled(n, d), unfilled(n, m))


def kernel_flops(n: int, d: int, m: int) -> int:
    """The same with features in the place of queries and keys."""
    return flops(kernel_attend, unfilled(n, width(d)), unfilled(n, width(d)), unfilled(n, m))


def softmax_compute() -> Findings:
    """Every query meets every key: twice the positions, four times the work."""
    growth = softmax_flops(2 * N, D, M) / softmax_flops(N, D, M)
    return measured_at(
        f"{SIZES}, then 2N",
        right("softmax attention: 2N²(D+M) FLOPs", abs(softmax_flops(N, D, M) - 2 * N**2 * (D + M)), WHOLE),
        wrong("its compute is O(N·max(D,M)): 2N costs × 2", abs(growth - 2)),
        corrected("its compute is O(N²·max(D,M)): 2N costs × 4", abs(growth - 4)),
    )


def softmax_memory() -> Findings:
    """Scores and weights are N × N, with no M in them; Q, K, V and the output are N × D or N × M."""
    normal = gaussian(seed=17)
    held = elements(attend, normal(N, D), normal(N, D), normal(N, M))
    return measured_at(
        f"{SIZES}: {held:,} numbers held",
        wrong("softmax attention holds N²M numbers", abs(held / (N**2 * M) - 1), HUNDREDTH),
        corrected("it holds 2N² + 2N(D+M) numbers", abs(held - (2 * N**2 + 2 * N * (D + M))), WHOLE),
    )


def kernel_compute() -> Findings:
    """Every query meets the C × M sum over the keys, and no key: twice the positions, twice the work."""
    counted = {n: kernel_flops(n, D, M) for n in (N, 2 * N, 4 * N)}
    growth = counted[2 * N] / counted[N]
    linear = corrected("it computes O(N·C·M): 2N costs × 2", abs(growth - 2))
    return measured_at(
        f"{SIZES}, C = {width(D)}",
        wrong("degree 2 computes O(N²M): 2N costs × 4", abs(growth - 4)),
        linear.showing(*(Value(f"N = {n}", work) for n, work in counted.items())),
        right("2M costs × 2 as well", abs(kernel_flops(N, D, 2 * M) / counted[N] - 2)),
    )


def kernel_held(d: int, m: int) -> int:
    """Numbers beside the values and the output: φ(Q), φ(K) and the sum over the keys."""
    normal = gaussian(seed=18)
    return elements(kernel_attend, normal(N, width(d)), normal(N, width(d)), normal(N, m)) - 2 * N * m


def kernel_memory() -> Findings:
    """φ(Q) and φ(K) are N × C, their sum with the values C × M: no N stands beside an M."""
    held, wider_values, wider_keys = kernel_held(D, M), kernel_held(D, 2 * M), kernel_held(2 * D, M)
    product = wrong("it needs O(NM·max(D,M)): 2M takes × 4", abs(wider_values / held - 4))
    formula = corrected("it holds 2NC + CM = O(N·C + C·M) numbers", abs(held - (2 * N + M) * width(D)), WHOLE)
    return measured_at(
        f"{SIZES}, C = {width(D)}; beside V and the output",
        product.showing(Value("growth with 2M", wider_values / held), Value("with 2D", wider_keys / held)),
        formula.showing(Value("numbers", held)),
    )


def crossover(d: int, m: int, share: float = 1.0) -> int:
    """The largest N at which kernel attention does not yet cost less than `share` of softmax attention."""
    lengths = range(1, 8 * width(d))
    cheaper = bisect_left(lengths, True, key=lambda n: kernel_flops(n, d, m) < share * softmax_flops(n, d, m))
    return lengths[cheaper] - 1


def kernel_crossover() -> Findings:
    """4NCM against 2N²(D+M); at M = D that is N > C, and C is about D²/2."""
    c = width(D)
    normaliser = flops(lambda phi_q, total: phi_q @ total, unfilled(N, c), unfilled(c, 1))
    counted, formula = crossover(64, 64), 2 * width(64) * 64 // (64 + 64)
    masked = right(f"cheaper for N > {2 * formula:,}", abs(crossover(64, 64, share=0.5) - 2 * formula), WHOLE)
    return measured_at(
        "D = M = 64",
        right("kernel attention: 4NCM FLOPs", abs(kernel_flops(N, D, M) - 4 * N * c * M), WHOLE).at(SIZES),
        right("kernel attention's normaliser: 2NC more", abs(normaliser - 2 * N * c), WHOLE).at(SIZES),
        wrong("kernel attention is cheaper for N > D² only", abs(counted - 64**2), WHOLE),
        corrected(f"cheaper for N > 2CM/(D+M) = {formula:,}", abs(counted - formula), WHOLE),
        masked.only_if("causal softmax is counted half"),
        right(f"{2 * formula:,} is about D² = {64**2:,}", abs(2 * formula / 64**2 - 1), ABOUT),
    )
