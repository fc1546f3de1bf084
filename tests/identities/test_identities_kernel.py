"""Kernel attention: its feature map, its two forms, and when it is the cheaper one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archcalc.identities.kernel import crossover, features, kernel_flops, softmax_flops
from archcalc.identities.measure import gaussian

from .conftest import numbers

if TYPE_CHECKING:
    from .conftest import Row


def test_the_feature_map_needs_root_two(row: Row) -> None:
    """Without it ⟨φ(q),φ(k)⟩ lacks qᵀk once."""
    assert row("feature-map", "⟨φ(q),φ(k)⟩ = (qᵀk+1)² with x_i").residual > 1
    assert row("feature-map", "⟨φ(q),φ(k)⟩ = (qᵀk+1)² with √2·x_i").residual < 1e-12


def test_what_lacks_without_root_two_is_the_product_itself() -> None:
    """(qᵀk+1)² − ⟨φ(q),φ(k)⟩ = qᵀk."""
    normal = gaussian(seed=1)
    q, k = normal(1, 5), normal(1, 5)
    lacking = (q @ k.T + 1) ** 2 - features(q, linear=1) @ features(k, linear=1).T
    assert float(lacking) == pytest.approx(float(q @ k.T))


def test_the_feature_map_has_c_features(row: Row) -> None:
    """C = (D+1)(D+2)/2, 2,145 for D = 64."""
    assert features(gaussian(seed=1)(1, 64)).shape == (1, 2145)
    assert row("feature-map", "φ has C").residual == 0


def test_kernel_attention_equals_its_quadratic_form(row: Row) -> None:
    """Causal or not."""
    assert row("kernel-attention", "φ(Q)(φ(K)ᵀV)").residual < 1e-12
    assert row("kernel-attention", "causal").residual < 1e-12


def test_costs_are_the_closed_forms(row: Row) -> None:
    """Softmax 2N²(D+M), kernel 4NCM and 2NC apart."""
    assert softmax_flops(1000, 64, 32) == 2 * 1000**2 * (64 + 32)
    assert kernel_flops(1000, 64, 32) == 4 * 1000 * 2145 * 32
    assert row("kernel-crossover", "kernel attention's normaliser").residual == 0


def test_softmax_computes_the_square_of_the_length(row: Row) -> None:
    """O(N·max(D,M)) is wrong: twice the N is four times the work, not twice."""
    assert row("softmax-compute", "its compute is O(N·max(D,M))").residual == pytest.approx(4 - 2)
    assert row("softmax-compute", "its compute is O(N²·max(D,M))").residual == 0
    assert row("softmax-compute", "softmax attention: 2N²(D+M)").residual == 0


def test_softmax_holds_the_square_of_the_length_once(row: Row) -> None:
    """O(N²M) is wrong: 2N² + 2N(D+M) numbers are held, 0.15 of N²M at N = 48, D = 16, M = 24."""
    held = 2 * 48**2 + 2 * 48 * (16 + 24)
    share = held / (48**2 * 24)
    assert row("softmax-memory", "softmax attention holds N²M").residual == pytest.approx(1 - share)
    assert row("softmax-memory", "it holds 2N²").residual == 0


def test_kernel_attention_computes_in_proportion_to_the_length(row: Row) -> None:
    """O(N²M) is wrong: twice the N is twice the work; 4NCM with C = 17·18/2 = 153."""
    assert row("kernel-compute", "degree 2 computes O(N²M)").residual == pytest.approx(4 - 2)
    linear = row("kernel-compute", "it computes O(N·C·M)")
    assert linear.residual == 0
    assert numbers(linear) == {f"N = {n}": 4 * n * 153 * 24 for n in (48, 96, 192)}


def test_kernel_attention_holds_its_features_and_one_sum(row: Row) -> None:
    """O(NM·max(D,M)) is wrong: it holds 2NC + CM, which twice the M makes 1.2 and twice the D 3.7 times as large."""
    n, m, c, of_twice_the_width = 48, 24, 153, 33 * 34 // 2
    held = 2 * n * c + c * m
    product = row("kernel-memory", "it needs O(NM·max(D,M))")
    assert numbers(product)["growth with 2M"] == pytest.approx((2 * n * c + 2 * c * m) / held)
    assert numbers(product)["with 2D"] == pytest.approx(of_twice_the_width / c)
    assert product.residual == pytest.approx(4 - 1.2)
    assert row("kernel-memory", "it holds 2NC + CM").residual == 0
    assert numbers(row("kernel-memory", "it holds 2NC + CM")) == {"numbers": held}


def test_kernel_attention_is_cheaper_beyond_2145(row: Row) -> None:
    """N > 2CM/(D+M) at D = M = 64, found by counting; D² = 4,096 is 1,951 too many."""
    assert crossover(64, 64) == 2145
    assert kernel_flops(2145, 64, 64) == softmax_flops(2145, 64, 64)
    assert kernel_flops(2146, 64, 64) < softmax_flops(2146, 64, 64)
    assert row("kernel-crossover", "kernel attention is cheaper for N > D²").residual == 4096 - 2145
    assert row("kernel-crossover", "cheaper for N > 2CM/(D+M) = 2,145").residual == 0


@pytest.mark.parametrize(("d", "m"), [(16, 24), (8, 8), (32, 4)])
def test_the_crossover_is_the_formulas_for_other_widths(d: int, m: int) -> None:
    """Rounded down where 2CM/(D+M) is no whole number."""
    c = (d + 1) * (d + 2) // 2
    assert crossover(d, m) == 2 * c * m // (d + m)


def test_the_crossover_is_about_d_squared_if_causal_softmax_is_half(row: Row) -> None:
    """2C = 4,290 beside 4,096: 4.7 % more."""
    assert crossover(64, 64, share=0.5) == 4290
    assert row("kernel-crossover", "cheaper for N > 4,290").residual == 0
    assert round(row("kernel-crossover", "4,290 is about D²").residual, 3) == 0.047
