"""A GRU's gates as PyTorch computes them: which way the update gate turns, and where the reset gate stands."""

from __future__ import annotations

import torch
from torch import nn, sigmoid, tanh

from archcalc.identities.finding import Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import filled, gap, gaussian

BATCH, INPUT, STATE = 4, 3, 5


def gru_gates() -> Findings:
    """Two conventions are in use for each gate: a formula of one with the weights of the other is wrong."""
    normal = gaussian(seed=31)
    cell = filled(lambda: nn.GRUCell(INPUT, STATE, dtype=torch.float64), normal)
    x, h = normal(BATCH, INPUT), normal(BATCH, STATE)
    from_x, from_h = x @ cell.weight_ih.T + cell.bias_ih, h @ cell.weight_hh.T + cell.bias_hh
    (x_r, x_z, x_n), (h_r, h_z, h_n) = from_x.chunk(3, dim=1), from_h.chunk(3, dim=1)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    after = tanh(x_n + r * h_n)
    u_n, b_n = cell.weight_hh.chunk(3)[2], cell.bias_hh.chunk(3)[2]
    before = tanh(x_n + (r * h) @ u_n.T + b_n)
    update = sigmoid(-(x_z + h_z))  # Γu: the same gate with its weights negated

    new = cell(x, h)
    writes = wrong("PyTorch: h = z∗h̃ + (1−z)∗h_prev", gap(new, z * after + (1 - z) * h))
    keeps = corrected("PyTorch: h = (1−z)∗h̃ + z∗h_prev", gap(new, (1 - z) * after + z * h), of=writes)
    resets_first = wrong("PyTorch: h̃ = tanh(W·x + U·(r∗h_prev))", gap(new, (1 - z) * before + z * h))
    resets_last = corrected("PyTorch: h̃ = tanh(W·x + r∗(U·h_prev))", gap(new, (1 - z) * after + z * h), of=resets_first)
    return measured_at(
        f"batch {BATCH}, x of {INPUT}, h of {STATE}, random weights and biases",
        writes,
        keeps,
        right("Γu∗c̃ + (1−Γu)∗c_prev is the same for Γu = 1−z", gap(new, update * after + (1 - update) * h)),
        resets_first,
        resets_last,
    )
