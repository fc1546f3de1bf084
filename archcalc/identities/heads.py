"""Multi-head attention written two other ways: as a sum over heads, and as one dense layer."""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor, nn, softmax

from archcalc.identities.finding import HUNDREDTH, WHOLE, Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import Normal, filled, flops, gap, gaussian, unfilled, weights

N, D, HEADS = 10, 12, 3
HEAD = D // HEADS
SIZES = f"N = {N}, d_model = {D}, {HEADS} heads of {HEAD}"


def multihead(normal: Normal) -> nn.MultiheadAttention:
    """PyTorch's own layer, which concatenates its heads, with random weights."""
    return filled(lambda: nn.MultiheadAttention(D, HEADS, bias=False, dtype=torch.float64), normal)


def head_weights(layer: nn.MultiheadAttention, h: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """W_Q, W_K, W_V (D × d_head) and W_O (d_head × D) of head h; PyTorch stores all of them transposed."""
    at = slice(h * HEAD, (h + 1) * HEAD)
    w_q, w_k, w_v = (w[at].T for w in layer.in_proj_weight.chunk(3))
    return w_q, w_k, w_v, layer.out_proj.weight.T[at]


def sum_over_heads() -> Findings:
    """W_O's rows belong to one head each, so the concatenation is a sum, and W_V, W_O meet in one matrix."""
    normal = gaussian(seed=6)
    layer, x = multihead(normal), normal(N, D)
    concatenated, _ = layer(x, x, x)

    summed = torch.zeros_like(x)
    for h in range(HEADS):
        w_q, w_k, w_v, w_o = head_weights(layer, h)
        merged = w_v @ w_o
        summed += softmax((x @ w_q) @ (x @ w_k).T / sqrt(HEAD), dim=1) @ x @ merged
    rank = int(torch.linalg.matrix_rank(merged))
    factored = w_v.numel() + w_o.numel()
    return measured_at(
        SIZES,
        right("Concat[H_h]·W_O = Σ_h softmax(…/√d)·X·W^(h)", gap(concatenated, summed)),
        right("W^(h) = W_V,h·W_O,h has d_model² entries", abs(merged.numel() - D**2), WHOLE),
        right("W^(h) has rank d_head", abs(rank - HEAD), WHOLE),
        right("W_V,h and W_O,h hold 2·d_model·d_head", abs(factored - 2 * D * HEAD), WHOLE),
    )


def dense_layer() -> Findings:
    """For given weights A the output is linear in the whole sequence: a dense layer with a regular matrix."""
    normal = gaussian(seed=7)
    x, w_v = normal(N, D), normal(D, D)
    a = softmax(normal(N, N), dim=1)
    # Block (n, m) is a_nm·W_Vᵀ: one matrix, shared by all pairs of positions.
    dense = torch.kron(a, w_v.T.contiguous())
    flat = dense @ x.flatten()

    layer = nn.MultiheadAttention(D, HEADS, bias=False, device="meta")
    share = weights(layer) / (N * D) ** 2

    def scores(n: int) -> int:
        return flops(lambda q, k: q @ k.T, unfilled(n, D), unfilled(n, D))

    return measured_at(
        SIZES,
        right("A·X·W_V = (A ⊗ W_Vᵀ)·x, x all rows of X", gap((a @ x @ w_v).flatten(), flat)),
        right("as a dense layer it needs N²D² weights", abs(dense.numel() - (N * D) ** 2), WHOLE),
        wrong("self-attention has N²D² parameters", abs(share - 1), HUNDREDTH),
        corrected("self-attention has 4·D², for every N", abs(weights(layer) - 4 * D**2), WHOLE),
        right("the scores of one head cost 2·N²·D FLOPs", abs(scores(N) - 2 * N**2 * D), WHOLE),
        right("scores at twice the N cost 4 times as much", abs(scores(2 * N) / scores(N) - 4)),
    )
