"""Keys with noise, and what several heads make of it: the sheet's set-ups, to its digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from archcalc.identities.keys import (
    A_DIMS,
    SAMPLES,
    A,
    B,
    D,
    factors,
    integrated,
    moments,
    one_each,
    pointed_at,
    weight_on_a,
)
from archcalc.identities.measure import gap

from .conftest import numbers

if TYPE_CHECKING:
    from archcalc.identities import Finding

    from .conftest import Row


def shown(finding: Finding) -> dict[str, float]:
    """Mean and variance to four digits."""
    return {name: round(number, 4) for name, number in numbers(finding).items()}


def test_gamma_has_mean_1_and_variance_one_half() -> None:
    """200,000 normal draws."""
    drawn = moments(factors())
    assert len(factors()) == SAMPLES == 200_000
    assert drawn.mean == pytest.approx(1, abs=4 * drawn.mean_error)
    assert drawn.variance == pytest.approx(0.5, abs=4 * drawn.variance_error)


def test_one_query_between_a_noisy_and_a_plain_key(row: Row) -> None:
    """Weight on v_a of mean 0.4996 and variance 0.2218; by integration ½ and 0.2220."""
    single = row("noisy-keys", "q = β(μ_a+μ_b)")
    assert shown(single) == {"mean": 0.4996, "variance": 0.2218}
    assert single.holds
    assert row("noisy-keys", "its variance is the integral").holds


def test_a_query_for_each_key(row: Row) -> None:
    """Mean 0.4508 and variance 0.0191: less than ½, and less than a tenth of the variance."""
    assert row("noisy-keys", "q₁ = βμ_a, q₂ = βμ_b: the mean is ½").residual == pytest.approx(0.5 - 0.4508, abs=1e-4)
    assert shown(row("noisy-keys", "it is ½·E[1/(1 + 5·e^−βγ)]")) == {"mean": 0.4508, "variance": 0.0191}


def test_without_other_keys_a_query_for_each_loses_less(row: Row) -> None:
    """0.4600 and 0.0158: the four other keys take weight from v_a where γ is small."""
    alone = row("noisy-keys", "it is ½·E[1/(1 + e^−βγ)]")
    assert shown(alone) == {"mean": 0.46, "variance": 0.0158}
    assert alone.condition == "there are no other keys"


def test_weights_are_those_of_attention_over_the_keys_themselves() -> None:
    """Written out with vectors: keys γμ_a, μ_b and four others in eight dimensions, any orthonormal μ."""
    mu = torch.linalg.qr(torch.arange(64, dtype=torch.float64).view(8, 8).sin()).Q[:6]
    for gamma in (-0.3, 0.8, 1.7):
        keys = torch.cat([gamma * mu[:1], mu[1:]])
        scores = keys @ (20 * (mu[A] + mu[B]))
        expected = torch.softmax(scores, dim=0)[A : A + 1]
        assert gap(weight_on_a(pointed_at(A, B), torch.tensor([gamma], dtype=torch.float64)), expected) < 1e-12


def test_the_integral_is_that_of_the_normal_law() -> None:
    """γ itself, integrated: mean 1, variance ½."""
    grid = torch.linspace(-7, 9, 20_001, dtype=torch.float64)
    assert integrated(grid, grid) == pytest.approx((1, 0.5))
    assert integrated(one_each(grid), grid)[0] == pytest.approx(0.4507, abs=5e-5)


def test_equal_queries_over_shared_keys_average_nothing(row: Row) -> None:
    """Two heads: mean and variance of one, where half the variance was expected."""
    assert row("equal-queries", "H equal queries have 1/H").residual == pytest.approx(0.2218 / 2, abs=1e-4)
    same = row("equal-queries", "they give one output H times")
    assert shown(same) == {"mean": 0.4996, "variance": 0.2218}
    assert same.residual < 1e-15


def test_heads_with_keys_of_their_own_do_average(row: Row) -> None:
    """Half of 0.2218, within the sampling error."""
    own = row("equal-queries", "they have 1/H of the variance")
    assert own.condition
    assert shown(own)["variance"] == pytest.approx(0.2218 / 2, abs=0.0006)


def test_projecting_gives_coordinates(row: Row) -> None:
    """Aᵀ(v_a + v_b) has three numbers, v_a has eight."""
    assert (A_DIMS, D) == (3, 8)
    assert row("projection-coordinates", "M = Aᵀ").residual > 1
    assert row("projection-coordinates", "Aᵀ(v_a+v_b) = c").residual < 1e-12
    assert row("projection-coordinates", "A·Aᵀ(v_a+v_b) = v_a").residual < 1e-12
    assert row("projection-coordinates", "A·Aᵀ·v_a = v_a for every").residual > 1
    assert row("projection-coordinates", "A·A⁺·v_a").residual < 1e-12
