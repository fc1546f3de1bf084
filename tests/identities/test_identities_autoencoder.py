"""Autoencoders: the linear one's optimum, and the recursive one's tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from archcalc.identities.autoencoders import (
    closed_form,
    data,
    from_pseudo_inverse,
    loss,
    merges,
    model,
    optimised,
    slope,
)
from archcalc.identities.measure import gap, gaussian, weights

from .conftest import numbers

if TYPE_CHECKING:
    from .conftest import Row


def test_the_closed_form_is_an_optimum(row: Row) -> None:
    """Its gradient is 0 and a free search ends no lower; 2·m·k weights."""
    assert row("linear-autoencoder", "W1 = √(1−λ/σ²)·Uᵀ").residual < 1e-12
    assert row("linear-autoencoder", "a free search").residual < 1e-12
    assert row("linear-autoencoder", "2·m·k weights").residual == 0


def test_the_optimum_is_one_of_its_own_lambda() -> None:
    """At another λ the same weights have a gradient."""
    x, u = data(gaussian(seed=18))
    assert slope(x, *closed_form(u, 0.5), 0.5) < 1e-12
    assert slope(x, *closed_form(u, 0.5), 0.4) > 0.01


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_search_ends_at_a_transpose(seed: int) -> None:
    """From any start, W2 = W1ᵀ and the loss is the closed form's."""
    normal = gaussian(seed)
    x, u = data(normal)
    w1, w2 = optimised(x, 0.5, normal)
    assert gap(w2, w1.T) < 1e-10
    assert abs(float(loss(x, w1, w2, 0.5) - loss(x, *closed_form(u, 0.5), 0.5))) < 1e-10


def test_the_pseudo_inverse_is_wrong_at_finite_lambda(row: Row) -> None:
    """|W2 − W1⁺| is 0.09 at λ = 0.5 and 0.0013 at λ = 0.01, where W2 = W1ᵀ to rounding."""
    assert round(row("pseudo-inverse", "W2 = W1⁺ at λ = 0.5").residual, 2) == 0.09
    assert row("pseudo-inverse", "W2 = W1ᵀ at λ = 0.5").residual < 1e-10
    assert round(row("pseudo-inverse", "W2 = W1⁺ at λ = 0.01").residual, 4) == 0.0013
    assert row("pseudo-inverse", "W2 = W1ᵀ at λ = 0.01").residual < 1e-10


def test_the_pseudo_inverse_is_the_limit(row: Row) -> None:
    """The distance goes to 0 with λ, and in proportion to it."""
    assert row("pseudo-inverse", "W2 = W1⁺").residual < 1e-10
    _, u = data(gaussian(seed=18))
    distances = [from_pseudo_inverse(*closed_form(u, lam)) for lam in (1e-4, 1e-5, 1e-6)]
    assert distances[0] / distances[1] == pytest.approx(10, rel=1e-3)
    assert distances[1] / distances[2] == pytest.approx(10, rel=1e-3)


def test_recursive_parameters_are_the_formula(row: Row) -> None:
    """4·D_p·D_x + D_p + 2·D_x + D_c·D_p + D_c."""
    assert weights(model(100, 100, 5)) == 4 * 100 * 100 + 100 + 2 * 100 + 5 * 100 + 5 == 40_805
    assert row("recursive-autoencoder", "weights: 4·D_p·D_x").residual == 0


def test_a_tree_over_n_words_has_n_minus_one_merges(row: Row) -> None:
    """And leaves one vector, given D_p = D_x."""
    assert merges(model(6, 6, 2), list(gaussian(seed=1)(17, 6))) == (16, 1)
    assert row("recursive-autoencoder", "n words take n−1 merges").residual == 0
    assert row("recursive-autoencoder", "n−1 merges leave one vector").residual == 0


def test_a_parent_of_another_width_ends_the_tree(row: Row) -> None:
    """After the first merge nothing fits: of eight merges seven are missing, and PyTorch itself refuses."""
    assert merges(model(5, 6, 2), list(gaussian(seed=1)(9, 6))) == (1, 8)
    assert row("recursive-autoencoder", "n words take n−1 merges for any D_p").residual == 7
    narrow, child = model(5, 6, 2), torch.zeros(6, dtype=torch.float64)
    parent = torch.tanh(narrow.merge(torch.cat([child, child])))
    with pytest.raises(RuntimeError, match=r"shape|size"):
        narrow.merge(torch.cat([parent, child]))


def test_a_bottleneck_is_a_projection(row: Row) -> None:
    """‖W2·W1 − I‖ = √(m−k), 1.73 for k = 3 of m = 6; the identity only for k = m."""
    assert round(row("bottleneck", "W2·W1 ≈ I").residual, 2) == 1.73
    for claim in ("‖W2·W1 − I‖ = √(m−k)", "it projects onto", "W2·W1 = I"):
        assert row("bottleneck", claim).residual < 1e-10


def test_lambda_shrinks_what_a_bottleneck_keeps(row: Row) -> None:
    """Singular values 1 − λ/σ²: 0.75 for λ = 0.5 and σ² = 2."""
    assert row("bottleneck", "its k singular values are 1").residual == pytest.approx(0.25)
    assert row("bottleneck", "they are 1 − λ/σ²").residual < 1e-10
    strengths = numbers(row("bottleneck", "they are 1 − λ/σ²"))
    assert [round(strength, 4) for strength in strengths.values()] == [0.9444, 0.9, 0.75]
