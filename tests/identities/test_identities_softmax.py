"""Softmax and scores: nothing becomes zero, a row belongs together, scores are not normal, why they are scaled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from archcalc.identities.attention import law, variance_and_kurtosis
from archcalc.identities.measure import gaussian
from archcalc.identities.softmax import slope, weights

from .conftest import numbers

if TYPE_CHECKING:
    from .conftest import Row


def test_no_entry_of_a_softmax_is_zero(row: Row) -> None:
    """The smallest of the eight looks like zero in print and is not; ratios are e^(s_n − s_m) to the last digit."""
    assert 0 < row("softmax-zeros", "softmax makes small entries zero").residual < 1e-5
    assert row("softmax-zeros", "a_n/a_m").residual < 1e-12
    assert row("softmax-zeros", "a masked entry").residual == 0
    assert row("softmax-zeros", "an entry is stored as 0").residual == 0


def test_softmax_is_not_applied_element_by_element(row: Row) -> None:
    """A weight moves by up to 0.08 for another's score; a row sums to 1."""
    assert round(row("softmax-elementwise", "softmax is applied").residual, 2) == 0.08
    for claim in ("∂a/∂s", "a row sums to 1", "softmax(s + c)"):
        assert row("softmax-elementwise", claim).residual < 1e-12


def test_scores_have_a_kurtosis_of_3_and_6_over_d(row: Row) -> None:
    """3.09 at D = 64, where a normal variable has 3."""
    assert row("score-law", "q·k is normal").residual == pytest.approx(6 / 64)
    assert row("score-law", "its kurtosis is 3 + 6/D").residual < 1e-12
    assert row("score-law", "its variance is D").residual < 1e-12
    assert numbers(row("score-law", "its kurtosis is 3 + 6/D"))["D = 64"] == pytest.approx(3.09, abs=0.005)


def test_the_law_of_a_score_agrees_with_samples() -> None:
    """A second witness for the quadrature: 200,000 scores of D = 8, whose kurtosis is 3.75."""
    normal, d = gaussian(seed=5), 8
    scores = (normal(200_000, d) * normal(200_000, d)).sum(1)
    sampled = float((scores**4).mean() / (scores**2).mean() ** 2)
    assert sampled == pytest.approx(variance_and_kurtosis(d)[1], abs=0.1)
    assert float(law(d)[1].sum()) == pytest.approx(1)


def test_without_the_scale_the_jacobian_vanishes(row: Row) -> None:
    """Its trace falls from 0.84 at D = 4 to 0.08 at D = 1,024; with 1/√D it stays at 0.96."""
    bare = row("softmax-jacobian", "without 1/√D")
    scaled = row("softmax-jacobian", "with 1/√D")
    assert [round(number, 2) for number in numbers(bare).values()] == [0.84, 0.29, 0.08]
    assert [round(number, 2) for number in numbers(scaled).values()] == [0.96, 0.96, 0.96]
    assert bare.residual > 0.7
    assert scaled.residual < 0.01
    assert row("softmax-jacobian", "trace J").residual < 1e-12


def test_scores_of_the_jacobian_are_those_of_queries_and_keys() -> None:
    """‖q‖ times a normal number has the law of q·k: real queries and keys give the same mean trace."""
    normal, d = gaussian(seed=6), 16
    q, k = normal(1000, d), normal(1000, 64, d)
    a = torch.softmax(torch.einsum("nd,nkd->nk", q, k), dim=1)
    traces = 1 - (a**2).sum(1)
    known = slope(d, scale=1)
    assert abs(float(traces.mean()) - known.mean) < 4 * (float(traces.std()) / 1000**0.5 + known.error)
    assert float(weights(d, scale=1).sum(1).mean()) == pytest.approx(1)
