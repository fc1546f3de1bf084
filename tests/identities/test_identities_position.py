"""Position encodings: sinusoids that rotate, learned rows, distances, RoPE and ALiBi."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch

from archcalc.identities.alibi import geometric, slopes
from archcalc.identities.measure import gap, gaussian
from archcalc.identities.position import D, encoding, frequencies, rise, rotated, shift, wavelengths

from .conftest import numbers

if TYPE_CHECKING:
    from .conftest import Row


def test_a_step_is_the_same_rotation_wherever_it_starts(row: Row) -> None:
    """T(k)·E_t = E_{t+k}."""
    for claim in ("T(k)·E_t", "T(k) is a rotation", "T(j)·T(k)", "E_tᵀE_{t+k}"):
        assert row("sinusoidal", claim).residual < 1e-12


def test_the_rotation_is_block_diagonal() -> None:
    """Two by two: nothing outside the blocks, and inside them cos and sin of kθ_i."""
    blocks = torch.kron(torch.eye(D // 2), torch.ones(2, 2)).double()
    moved = shift(5, frequencies(D))
    assert gap(moved * (1 - blocks), torch.zeros(D, D, dtype=torch.float64)) == 0
    first = torch.tensor(5.0, dtype=torch.float64)  # θ_0 = 1
    assert float(moved[0, 0]) == pytest.approx(float(first.cos()))
    assert float(moved[0, 1]) == pytest.approx(float(first.sin()))


def test_one_step_is_not_another() -> None:
    """T(4)·E_t is not E_{t+5}."""
    t, theta = torch.arange(10, dtype=torch.float64), frequencies(D)
    assert gap(encoding(t, theta) @ shift(4, theta).T, encoding(t + 5, theta)) > 0.1


def test_learned_positions_are_a_table(row: Row) -> None:
    """max_len × d_model parameters; rows past the longest sequence seen stay untrained."""
    assert row("learned-positions", "learned positions: max_len·d_model").residual == 0
    assert row("learned-positions", "positions not seen").residual == 0


def test_relative_positions_depend_on_distance(row: Row) -> None:
    """Words repeated later score among themselves as before."""
    assert row("relative-positions", "relative: scores depend").residual < 1e-12
    assert row("relative-positions", "relative: (2K+1)·d_head").residual == 0


def test_rope_keeps_norms_and_sees_distances_only(row: Row) -> None:
    """It has no parameters, and works in linear attention's running sums too."""
    for claim in ("RoPE: ‖R_m·q‖ = ‖q‖", "RoPE: (R_m·q)ᵀ(R_n·k)", "RoPE: the same scores"):
        assert row("rope", claim).residual < 1e-12
    assert row("rope-linear-attention", "linear attention").residual < 1e-12


def test_rope_does_see_distances() -> None:
    """Moving the keys alone changes the scores."""
    normal, at = gaussian(seed=1), torch.arange(4, dtype=torch.float64)
    q, k = normal(4, 8), normal(4, 8)
    scores = rotated(q, at) @ rotated(k, at).T
    assert gap(scores, rotated(q, at) @ rotated(k, at + 1).T) > 0.1


def test_ropes_envelope_decays_and_its_score_does_not_fall_steadily(row: Row) -> None:
    """With q = k = (1, 1, …) the score rises by up to 0.08 of its first value from one place to the next."""
    assert round(row("rope-decay", "RoPE: the score falls").residual, 2) == 0.08
    assert row("rope-decay", "RoPE: its envelope falls").residual == 0
    assert row("rope-decay", "RoPE: |score| ≤").residual == 0


def test_ropes_envelope_stops_falling_beyond_its_base() -> None:
    """From 31.5 at distance 1 to 4.7 at 8,192 and no lower: by then the slowest pair turns too."""
    s = torch.arange(1, 2**16, dtype=torch.float64)
    mean = torch.exp(1j * s[:, None] * frequencies(128)).cumsum(1).abs().mean(1)
    octaves = torch.stack([mean[2**n - 1 : 2 ** (n + 1) - 1].mean() for n in range(16)])
    assert [round(float(octaves[n]), 1) for n in (0, 6, 12, 13)] == [31.5, 10.0, 4.7, 4.7]
    assert rise(octaves[:14]) == 0
    assert rise(octaves) > 0


def test_a_rise_is_the_largest_step_up() -> None:
    """And 0 for a series that only falls."""
    assert rise(torch.tensor([3.0, 1.0, 2.0, 2.5])) == 1.0
    assert rise(torch.tensor([3.0, 1.0, 0.5])) == 0.0


def test_alibi_slopes_are_geometric_for_a_power_of_two(row: Row) -> None:
    """½, ¼, … 1/256 for eight heads; sixteen begin at 2^−½."""
    assert slopes(8).tolist() == pytest.approx([1 / 2**h for h in range(1, 9)], rel=1e-14)
    assert float(slopes(16)[0]) == pytest.approx(2**-0.5)
    assert row("alibi-slopes", "m_h = 2^(−8h/n)").residual < 1e-14


def test_alibi_slopes_are_interleaved_otherwise(row: Row) -> None:
    """Twelve heads: those of eight, then every other one of sixteen's."""
    sixteen = geometric(16).tolist()
    assert slopes(12).tolist() == [*geometric(8).tolist(), *sixteen[0:8:2]]
    assert row("alibi-slopes", "m_h = 2^(−8h/n) for every n").residual > 0.5
    assert row("alibi-slopes", "slopes 2^−1").residual < 1e-14


def test_alibi_penalises_distance_alone(row: Row) -> None:
    """−m_h(i−j): a factor e^−m_h in the weight for each place."""
    for claim in ("−m_h(i−j) is the same", "a place further off", "m_h·j alone"):
        assert row("alibi-bias", claim).residual < 1e-12


def test_alibis_vector_is_shown_for_the_fifth_query(row: Row) -> None:
    """m·[−4, −3, −2, −1, 0] with m = ½, the first slope of eight heads."""
    (shown,) = row("alibi-bias", "query i gets m_h·[−(i−1)").values
    assert shown.number == ((-2.0, -1.5, -1.0, -0.5, 0.0),)


def test_every_sinusoid_comes_back_after_its_wavelength(row: Row) -> None:
    """The longest after 2π·10000^(1−2/d): 60,611 at d = 512; after half of it both numbers are negated."""
    assert row("sinusoid-wavelengths", "pair i comes back").residual < 1e-12
    longest = numbers(row("sinusoid-wavelengths", "the longest comes back"))
    assert longest["d = 512"] == round(2 * math.pi * 10_000 ** (510 / 512))
    assert row("sinusoid-wavelengths", "the longest").residual == pytest.approx(1 - 10_000 ** (-2 / 4096))
    t, slowest = torch.arange(5, dtype=torch.float64), frequencies(512)[-1:]
    half = wavelengths(512)[-1] / 2
    assert gap(encoding(t + half, slowest), -encoding(t, slowest)) < 1e-12


def test_far_positions_look_alike_in_few_dimensions_only(row: Row) -> None:
    """Eight nearly come back to where they began; 512 are never above a quarter beyond 1,000 positions."""
    assert row("sinusoid-similarity", "the further apart").residual > 0.01
    assert row("sinusoid-similarity", "cos(E_t, E_{t+k})").residual < 1e-12
    few, *_, many = numbers(row("sinusoid-similarity", "positions 1,000 and more apart")).values()
    assert few > 0.999
    assert many < 0.25


def test_the_shift_matrix_has_its_minus_below_and_falling_frequencies(row: Row) -> None:
    """d = 8, t < 20, k = 1 … 9: off by 3e-16; transposed by 1.98, with the other sign of the exponent by 2.00."""
    assert row("shift-matrix", "+sin above the diagonal").residual < 4e-16
    assert round(row("shift-matrix", "T(k) transposed").residual, 2) == 1.98
    assert round(row("shift-matrix", "T(k) with θ_i = 10000^(+2i/d)").residual, 2) == 2.00
    assert row("shift-matrix", "the transpose goes back").residual < 1e-15


def test_the_shift_matrix_is_shown_for_d_4(row: Row) -> None:
    """cos 1 and sin 1, cos 0.01 and sin 0.01."""
    (shown,) = row("shift-matrix", "+sin above the diagonal").values
    first = [[0.5403, 0.8415, 0, 0], [-0.8415, 0.5403, 0, 0], [0, 0, 1.0, 0.01], [0, 0, -0.01, 1.0]]
    assert isinstance(shown.number, tuple)
    assert [[round(entry, 4) for entry in line] for line in shown.number] == first


def test_a_larger_image_has_more_patches_of_the_same_size(row: Row) -> None:
    """196 of 16 × 16 × 3 = 768 numbers in 224², 576 in 384²; grown patches would have 2,257 numbers."""
    assert row("patches", "the size of a patch grows").residual == pytest.approx(768 * (384 / 224) ** 2 - 768)
    assert row("patches", "a patch stays").residual == 0
    assert row("patches", "the number of patches stays").residual == 576 - 196
    assert row("patches", "interpolated positions").residual == 0
    assert [value.number for value in row("patches", "there are N = HW/P²").values] == [196, 576]


def test_tanh_lies_between_minus_1_and_1(row: Row) -> None:
    """[0, 1] is missed by 1; scores of additive attention are negative too."""
    assert row("tanh-range", "tanh maps to [0, 1]").residual == pytest.approx(1)
    assert row("tanh-range", "tanh maps to (−1, 1)").residual == 0
    assert row("tanh-range", "tanh(x) = 2σ(2x) − 1").residual < 1e-12
    assert row("tanh-range", "additive scores").residual > 1


def test_the_location_score_has_as_many_weights_as_rows(row: Row) -> None:
    """Ten, also for fourteen words."""
    assert row("location-score", "location gives a weight to every source word").residual == 14 - 10
    assert row("location-score", "location gives each source word a weight").residual == 0
    assert row("location-score", "its weights do not depend").residual == 0
