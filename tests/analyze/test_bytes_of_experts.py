"""Bytes of experts that a forward pass reads: of as many as are expected to be chosen, with the least and the most."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.analyze.flops.movement import shares_of

if TYPE_CHECKING:
    from conftest import Run

MIXTRAL = archcalc.load("mixtral-8x7b")
ONE_EXPERT = 32 * 3 * 4096 * 14336  # of Mixtral, in all layers
NOT_EXPERTS = 46_702_792_704 - 8 * ONE_EXPERT - 32000 * 4096  # of its published parameters, without the table


CHOICES = [(3, 1, 1), (3, 2, 4), (5, 2, 3), (6, 3, 2), (4, 4, 2), (2, 1, 8)]


@pytest.mark.parametrize(("experts", "top", "tokens"), CHOICES)
def test_the_expectation_is_the_mean_over_all_choices(experts: int, top: int, tokens: int) -> None:
    """Every token may choose every set of experts, and all of these choices are enumerated."""
    choices = product(combinations(range(experts), top), repeat=tokens)
    met = [len(set().union(*choice)) for choice in choices]
    shares = shares_of(Fraction(top, experts), tokens)
    assert float(shares.expected) == pytest.approx(sum(met) / len(met) / experts, rel=1e-12)
    assert (shares.least, shares.largest) == (Fraction(min(met), experts), Fraction(max(met), experts))


def test_four_tokens_read_between_two_and_eight_experts_of_mixtral() -> None:
    """8 · (1 − (6/8)⁴) = 5.46875 are expected: 65 GB between 25 and 93."""
    traffic = MIXTRAL.flops(mode="decode", batch=4).traffic
    expected = 8 - Fraction(6**4, 8**3)
    rest = 2 * (NOT_EXPERTS + 4 * 4096)
    assert traffic.weights == rest + 2 * ONE_EXPERT * expected
    assert (traffic.weights_least, traffic.weights_largest) == (rest + 4 * ONE_EXPERT, rest + 16 * ONE_EXPERT)
    assert [round(number / 1e9) for number in (traffic.weights_least, traffic.weights_largest)] == [25, 93]


def test_one_token_reads_the_experts_that_it_chooses() -> None:
    traffic = MIXTRAL.flops(mode="decode").traffic
    assert traffic.weights == 2 * (NOT_EXPERTS + 4096 + 2 * ONE_EXPERT)
    assert traffic.weights == traffic.weights_least == traffic.weights_largest


def test_a_dense_model_has_no_range() -> None:
    traffic = archcalc.load("llama-3-8b").flops(mode="decode", batch=64).traffic
    assert traffic.weights == traffic.weights_least == traffic.weights_largest


@pytest.mark.parametrize(("tp", "batch"), [(1, 1), (1, 3), (2, 3)])
def test_biases_of_experts_are_read_with_their_matrices(tp: int, batch: int) -> None:
    """One token chooses 1 of 6 experts of 8 × 4 and 4 × 8 weights, with 4 and 8 biases; width is divided, 8 biases are
    not."""
    fields: dict[str, Any] = {"vocab": 9, "d_model": 8, "heads": 2, "norm": "rms", "bias": True}
    moe = {"experts": 6, "top": 1, "width": 4, "act": "relu", "gated": False, "bias": True}
    model = archcalc.load({**fields, "moe": moe, "decoder": {"blocks": 2, "pattern": ["attention moe"]}})
    traffic = model.flops(mode="decode", batch=batch, tp=tp).traffic
    expert = 2 * 4 * ((2 * 8 * 4 + 4) // tp + 8)
    assert traffic.weights_largest - traffic.weights_least == (batch - 1) * expert
    assert traffic.weights - traffic.weights_least == round((6 - 6 * Fraction(5, 6) ** batch - 1) * expert)


def test_the_figures_show_the_expectation_and_its_range(run: Run) -> None:
    text = run("flops", "mixtral-8x7b", "--mode", "decode", "--batch", "4", "--notes").out
    read, least, largest = (line for line in text.splitlines() if line.startswith("weights read "))
    assert ("60.17 GiB" in read, "23.75 GiB" in least, "86.75 GiB" in largest) == (True, True, True)
    assert read.endswith("expected")
    assert "weights read and FLOP/B: of the experts that are expected to be chosen" in " ".join(text.split())


def test_intensity_counts_the_experts_that_are_expected() -> None:
    """Two tokens: 8 · (1 − (6/8)²) = 3.5 of 8 experts. The gate's product, of 2 · 2 rows."""
    rows = {row.path: row for row in MIXTRAL.flops(mode="decode", batch=2).rows}
    gate = next(row for path, row in rows.items() if path.endswith("experts.gate"))
    weights, into, out = Fraction(7, 2) * 4096 * 14336, 4 * 4096, 4 * 14336
    assert gate.bytes == 32 * 2 * (weights + into + out)
    assert gate.intensity == 32 * 2 * 4 * 4096 * 14336 / Fraction(gate.bytes)
