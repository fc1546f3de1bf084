"""LSTM and GRU: the backward pass by hand, and three quarters of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from archcalc.identities import run
from archcalc.identities.gated_cells import INPUT, STATE, forward_and_backward, one_bias, outer, pair
from archcalc.identities.measure import gap, weights

if TYPE_CHECKING:
    from .conftest import Row


def test_the_lstm_is_the_one_pytorch_computes() -> None:
    """The step written out for the derivation gives what nn.LSTMCell gives with the same weights."""
    w, _, v, _, _ = forward_and_backward()
    cell = nn.LSTMCell(INPUT, STATE, dtype=torch.float64).requires_grad_(False)
    gates = torch.cat([w.u, w.f, w.c, w.o])  # PyTorch's order
    cell.weight_hh.copy_(gates[:, :STATE])
    cell.weight_ih.copy_(gates[:, STATE:])
    cell.bias_ih.copy_(torch.cat([w.b_u, w.b_f, w.b_c, w.b_o]))
    cell.bias_hh.zero_()
    a, c = cell(v.x, (v.a_prev, v.c_prev))
    assert max(gap(a, v.a), gap(c, v.c)) < 1e-12


def test_hand_derived_gradients_are_autograds() -> None:
    """Thirteen formulas, each from the derivatives it builds on."""
    findings = run(["lstm-gradients"])
    assert len(findings) == 13
    assert max(finding.residual for finding in findings) < 1e-12


def test_gradients_are_of_a_size_that_a_mistake_would_show() -> None:
    """A residual of 1e-16 says something only if what is compared is not itself near 0."""
    _, dw, _, d, _ = forward_and_backward()
    assert min(float(g.abs().max()) for g in (*dw, *d)) > 0.05


@pytest.mark.parametrize("left_out", ["u", "f", "o", "c_tilde", "c_prev"])
def test_every_factor_of_the_cell_matters(left_out: str) -> None:
    """With one signal replaced by 1 the formula that uses it no longer agrees."""
    _, _, v, d, _ = forward_and_backward()
    v = v._replace(**{left_out: torch.ones_like(v.u)})
    formulas = {
        "u": (d.pre_c, d.c * v.u * (1 - v.c_tilde**2)),
        "f": (d.c_prev[0], d.c[0] * v.f[0]),
        "o": (d.c[-1], d.a[-1] * v.o[-1] * (1 - torch.tanh(v.c[-1]) ** 2)),
        "c_tilde": (d.pre_u, d.c * v.c_tilde * v.u * (1 - v.u)),
        "c_prev": (d.pre_f, d.c * v.c_prev * v.f * (1 - v.f)),
    }
    assert gap(*formulas[left_out]) > 0.01


def test_an_output_reaches_the_loss_through_the_logits_and_the_next_step() -> None:
    """Either way alone is not enough, except at the last step, which has no next one."""
    w, _, v, d, y = forward_and_backward()
    through_logits = (torch.softmax(v.z, dim=1) - y) @ w.y
    assert gap(d.a[:-1], through_logits[:-1]) > 0.01
    assert gap(d.a[-1], through_logits[-1]) < 1e-12


def test_the_forget_gate_carries_the_previous_cell_state(row: Row) -> None:
    """Not c̃, and not nothing: both are off by a fifth and more, with c_prev both are exact."""
    assert row("lstm-forget-gate", "∂L/∂γf = dc∗c̃∗").residual > 0.2
    assert row("lstm-forget-gate", "∂L/∂γf = dc∗c_prev∗").residual < 1e-12
    assert row("lstm-forget-gate", "∂E/∂W_f = Σ_t (dc∗Γf").residual > 0.2
    assert row("lstm-forget-gate", "∂E/∂W_f = Σ_t (dc∗c_prev∗").residual < 1e-12


def test_the_cell_state_needs_the_factor_o(row: Row) -> None:
    """∂E/∂c = E∗o∗(1−tanh²c)."""
    assert row("lstm-cell-state", "∂E/∂c = E∗(1−").residual > 0.2
    assert row("lstm-cell-state", "∂E/∂c = E∗o∗(1−").residual < 1e-12


def test_softmax_and_cross_entropy_leave_a_difference(row: Row) -> None:
    """∂L/∂z = ŷ−y."""
    assert row("cross-entropy", "∂L/∂z = ŷ−y").residual < 1e-12


def test_weight_gradients_sum_over_the_steps() -> None:
    """An outer product for each of them, not only for the last."""
    v, d = torch.eye(3, dtype=torch.float64), torch.ones(3, 2, dtype=torch.float64)
    assert gap(outer(d, v), torch.ones(2, 3, dtype=torch.float64)) == 0


def test_a_gru_has_three_quarters_of_an_lstm_under_one_convention(row: Row) -> None:
    """Exactly, with one bias a gate as with two."""
    assert row("gru-size", "GRU/LSTM = 3/4, two biases").residual == 0
    assert row("gru-size", "GRU/LSTM = 3/4, one bias").residual == 0


def test_keras_defaults_give_0_754_from_128_to_64(row: Row) -> None:
    """3 × (in·h + h·h + 2h) for its GRU, 4 × (in·h + h·h + h) for its LSTM."""
    gru, lstm = pair(128, 64)
    assert weights(gru) == 3 * (128 * 64 + 64 * 64 + 2 * 64) == 37_248
    assert one_bias(lstm) == 4 * (128 * 64 + 64 * 64 + 64) == 49_408
    assert round(37_248 / 49_408, 3) == 0.754
    assert row("gru-size", "GRU/LSTM = 3/4 with Keras").residual == pytest.approx(37_248 / 49_408 - 3 / 4)
    assert row("gru-size", "Keras: GRU/LSTM").residual < 1e-12


def test_embedding_and_head_do_not_shrink(row: Row) -> None:
    """What a GRU saves in a whole model is a quarter of the LSTM layer alone."""
    assert row("gru-size", "embedding and head").residual == 0


def test_a_gru_is_the_cheaper_one_to_train(row: Row) -> None:
    """Three quarters of the matrix products too."""
    assert row("gru-cost", "a GRU's matrix products").residual == 0


def test_pytorchs_update_gate_keeps_where_the_courses_writes(row: Row) -> None:
    """And its reset gate stands behind the product: either formula of the other convention is far off."""
    assert row("gru-gates", "PyTorch: h = z∗h̃ + (1−z)∗h_prev").residual > 0.5
    assert row("gru-gates", "PyTorch: h = (1−z)∗h̃ + z∗h_prev").residual < 1e-12
    assert row("gru-gates", "Γu∗c̃ + (1−Γu)∗c_prev").residual < 1e-12
    assert row("gru-gates", "PyTorch: h̃ = tanh(W·x + U·(r∗h_prev))").residual > 0.05
    assert row("gru-gates", "PyTorch: h̃ = tanh(W·x + r∗(U·h_prev))").residual < 1e-12
