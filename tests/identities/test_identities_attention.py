"""Attention: orthogonal inputs, the 1/√D, sums over heads, the dense view, order, a query between keys."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import pytest
import torch

from archcalc.identities.attention import expectation, plain
from archcalc.identities.heads import HEAD, D, N, head_weights, multihead
from archcalc.identities.measure import elements, filled, flops, gap, gaussian, unfilled

if TYPE_CHECKING:
    from .conftest import Row


def test_orthogonal_inputs_come_back_only_if_they_are_long(row: Row) -> None:
    """N = 8: max |y − x| is 0.72 at ‖x‖ = 1 and 0.0026 at ‖x‖ = 3."""
    assert round(row("orthogonal-inputs", "y_n = x_n for orthogonal").residual, 2) == 0.72
    assert round(row("orthogonal-inputs", "y_n ≈ x_n").residual, 4) == 0.0026


def test_the_weight_on_oneself_has_a_formula(row: Row) -> None:
    """a_nn = e^‖x‖²/(N−1+e^‖x‖²), which is 0.28 at ‖x‖ = 1 and 0.999 at ‖x‖ = 3."""
    axes = torch.eye(8, dtype=torch.float64)
    assert round(float(plain(axes)[0][0, 0]), 2) == 0.28
    assert round(float(plain(3 * axes)[0][0, 0]), 3) == 0.999
    assert row("orthogonal-inputs", "a_nn = ").residual < 1e-14
    assert row("orthogonal-inputs", "y_n = a_nn·x_n").residual < 1e-14


def test_scores_have_variance_d(row: Row) -> None:
    """Exactly by quadrature; sampled, within four standard errors, which are small beside D = 64."""
    assert row("score-variance", "E[(aᵀb)²] = D").residual < 1e-12
    assert row("score-variance", "E[(aᵀb/√D)²] = 1").residual < 1e-12
    sampled = row("score-variance", "E[(aᵀb)²] = D, sampled")
    assert sampled.residual <= sampled.bound.size < 0.05 * 64


def test_the_quadrature_knows_the_moments_of_the_normal() -> None:
    """E[a²] = 1, E[a⁴] = 3, odd moments 0, total weight 1."""
    a, _, weight = expectation(dims=1)
    moments = [float(weight @ a[:, 0] ** power) for power in range(6)]
    assert moments == pytest.approx([1, 0, 1, 0, 3, 0], abs=1e-14)


def test_a_product_of_normals_is_not_normal(row: Row) -> None:
    """Its kurtosis is 9 where a normal variable has 3; its variance is 1 all the same."""
    assert row("score-variance", "a_i·b_i is normal").residual == pytest.approx(9 - 3)
    assert row("score-variance", "a_i·b_i is not normal: its kurtosis is 9").residual < 1e-12
    assert row("score-variance", "a_i·b_i has variance 1").residual < 1e-12


def test_concatenated_heads_are_a_sum_over_heads(row: Row) -> None:
    """PyTorch's own layer, which concatenates, against Σ_h softmax(Q_hK_hᵀ/√d)·X·W_V,h·W_O,h."""
    assert row("sum-over-heads", "Concat[H_h]·W_O").residual < 1e-12


def test_the_scale_of_the_sum_is_a_heads_own() -> None:
    """1/√d_head: with 1/√d_model the sum is not what the layer computes."""
    normal = gaussian(seed=1)
    layer, x = multihead(normal), normal(N, D)
    w_q, w_k, _, _ = head_weights(layer, 0)
    _, by_head = layer(x, x, x, average_attn_weights=False)
    scores = (x @ w_q) @ (x @ w_k).T
    assert gap(by_head[0], torch.softmax(scores / sqrt(HEAD), dim=1)) < 1e-12
    assert gap(by_head[0], torch.softmax(scores / sqrt(D), dim=1)) > 0.01


def test_merged_weights_are_more_than_factored_ones(row: Row) -> None:
    """A head's W^(h) has d_model² entries and rank d_head; its two factors 2·d_model·d_head."""
    _, _, w_v, w_o = head_weights(multihead(gaussian(seed=1)), 0)
    assert (w_v @ w_o).numel() == 12 * 12 > w_v.numel() + w_o.numel() == 2 * 12 * 4
    for claim in ("W^(h) = W_V,h·W_O,h", "W^(h) has rank", "W_V,h and W_O,h hold"):
        assert row("sum-over-heads", claim).residual == 0


def test_attention_is_a_dense_layer_with_shared_weights(row: Row) -> None:
    """The same map needs N²D² weights as a dense layer; attention has 4·D², 25 times less at N = 10."""
    assert row("dense-layer", "A·X·W_V = (A ⊗ W_Vᵀ)·x").residual < 1e-12
    assert row("dense-layer", "as a dense layer").residual == 0
    assert row("dense-layer", "self-attention has N²D²").residual == pytest.approx(1 - 4 / 10**2)
    assert row("dense-layer", "self-attention has 4·D²").residual == 0


def test_scores_cost_the_square_of_the_length(row: Row) -> None:
    """2·N²·D FLOPs."""
    assert row("dense-layer", "the scores of one head").residual == 0
    assert row("dense-layer", "scores at twice the N").residual == 0


def test_attention_is_blind_to_order_until_positions_are_added(row: Row) -> None:
    """Permuted inputs give permuted outputs; with positions only if these are permuted too."""
    assert row("permutation", "f(P·X) = P·f(X)").residual < 1e-12
    assert row("permutation", "f(P·X + E)").residual > 0.1
    assert row("permutation", "f(P·(X + E))").residual < 1e-12


def test_a_query_between_two_keys_gives_the_mean_of_their_values(row: Row) -> None:
    """For orthonormal keys, and for any of equal norm with no better third; not otherwise."""
    assert row("two-keys", "q = β(k_a+k_b)").residual < 1e-12
    assert row("two-keys", "(v_a+v_b)/2 also if ‖k_a‖ = 1.5").residual > 0.1
    assert row("two-keys", "(v_a+v_b)/2, even at k_aᵀk_b = 0.8").residual < 1e-12
    assert row("two-keys", "(v_a+v_b)/2 also beside").residual > 0.1
    assert row("two-keys", "(v_a+v_b)/2 beside weaker keys").residual < 1e-12


def test_averaged_heads_keep_the_mean_with_less_variance(row: Row) -> None:
    """A quarter of it with four independent heads; none with one head on each key, as long as γ is positive."""
    for claim in (
        "one head",
        "the average of H",
        "their average has 1/H",
        "heads βu and βk_b: the same mean",
        "heads βu and βk_b: no variance",
    ):
        assert row("averaged-heads", claim).residual < 1e-12
    assert row("averaged-heads", "heads βu and βk_b: no variance for any γ").residual > 0.05


def test_a_gap_is_between_equal_shapes_only() -> None:
    """A row against a column would broadcast to something else."""
    with pytest.raises(ValueError, match=r"cannot compare \(1, 3\) with \(3, 1\)"):
        gap(torch.zeros(1, 3), torch.zeros(3, 1))


def test_flops_are_two_for_each_multiplication_and_addition() -> None:
    """A 3 × 5 by 5 × 7 product."""
    assert flops(torch.mm, unfilled(3, 5), unfilled(5, 7)) == 2 * 3 * 5 * 7


def test_elements_count_results_and_not_views() -> None:
    """x is 6 numbers, its transpose none, and the product 2 × 2."""
    assert elements(lambda x: x @ x.T, gaussian(seed=1)(2, 3)) == 6 + 4


def test_filled_layers_are_the_same_each_time() -> None:
    """Their weights come from the seed given."""
    one, two = (filled(lambda: torch.nn.Linear(3, 2, dtype=torch.float64), gaussian(seed=1)) for _ in "ab")
    other = filled(lambda: torch.nn.Linear(3, 2, dtype=torch.float64), gaussian(seed=2))
    assert gap(one.weight, two.weight) == 0
    assert gap(one.weight, other.weight) > 0.1
