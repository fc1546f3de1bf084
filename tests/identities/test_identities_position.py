"""Position encodings: sinusoids that rotate, learned rows, distances, RoPE and ALiBi."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from archcalc.identities.alibi import geometric, slopes
from archcalc.identities.measure import gap, gaussian
from archcalc.identities.position import D, encoding, shift
from archcalc.identities.rope import frequencies, rise, rotated

if TYPE_CHECKING:
    from .conftest import Row


def test_a_step_is_the_same_rotation_wherever_it_starts(row: Row) -> None:
    """T(k)·E_t = E_{t+k}."""
    for claim in ("T(k)·E_t", "T(k) is a rotation", "T(j)·T(k)", "E_tᵀE_{t+k}"):
        assert row("sinusoidal", claim).residual < 1e-12


def test_the_rotation_is_block_diagonal() -> None:
    """Two by two: nothing outside the blocks, and inside them cos and sin of kθ_i."""
    blocks = torch.kron(torch.eye(D // 2), torch.ones(2, 2)).double()
    assert gap(shift(5) * (1 - blocks), torch.zeros(D, D, dtype=torch.float64)) == 0
    first = torch.tensor(5.0, dtype=torch.float64)  # θ_0 = 1
    assert float(shift(5)[0, 0]) == pytest.approx(float(first.cos()))
    assert float(shift(5)[0, 1]) == pytest.approx(float(first.sin()))


def test_one_step_is_not_another() -> None:
    """T(4)·E_t is not E_{t+5}."""
    t = torch.arange(10, dtype=torch.float64)
    assert gap(encoding(t) @ shift(4).T, encoding(t + 5)) > 0.1


def test_learned_positions_are_a_table(row: Row) -> None:
    """max_len × d_model parameters; rows past the longest sequence seen stay untrained."""
    assert row("learned-positions", "learned positions: max_len·d_model").residual == 0
    assert row("learned-positions", "positions never reached").residual == 0


def test_relative_positions_depend_on_distance(row: Row) -> None:
    """Words repeated later score among themselves as before."""
    assert row("relative-positions", "relative: equal words").residual < 1e-12
    assert row("relative-positions", "relative: (2K+1)·d_head").residual == 0


def test_rope_keeps_norms_and_sees_distances_only(row: Row) -> None:
    """It has no parameters, and works in linear attention's running sums too."""
    for claim in ("RoPE: ‖R_m·q‖ = ‖q‖", "RoPE: (R_m·q)ᵀ(R_n·k)", "RoPE: the same scores"):
        assert row("rope", claim).residual < 1e-12
    assert row("rope-linear-attention", "RoPE in linear attention").residual < 1e-12


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
    assert row("alibi-slopes", "m_h = 2^(−8h/n) for n a power of two").residual < 1e-14


def test_alibi_slopes_are_interleaved_otherwise(row: Row) -> None:
    """Twelve heads: those of eight, then every other one of sixteen's."""
    sixteen = geometric(16).tolist()
    assert slopes(12).tolist() == [*geometric(8).tolist(), *sixteen[0:8:2]]
    assert row("alibi-slopes", "m_h = 2^(−8h/n) for n = 12").residual > 0.5
    assert row("alibi-slopes", "n = 12").residual < 1e-14


def test_alibi_penalises_distance_alone(row: Row) -> None:
    """−m_h(i−j): a factor e^−m_h in the weight for each place."""
    for claim in ("−m_h(i−j) is the same", "a place further off", "m_h·j alone"):
        assert row("alibi-bias", claim).residual < 1e-12
