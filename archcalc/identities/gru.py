"""A GRU beside an LSTM of the same sizes, three gates' worth of weights instead of four; and its gates in PyTorch."""

from __future__ import annotations

import torch
from torch import nn, sigmoid, tanh

from archcalc.identities.finding import WHOLE, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import filled, flops, gap, gaussian, unfilled, weights

SIZES = ((128, 64, 1), (300, 512, 2), (7, 5, 3))  # input, hidden, layers
NAMED = ", ".join(f"{inputs}→{hidden} of {layers}" for inputs, hidden, layers in SIZES) + " layers"
BATCH, INPUT, STATE = 4, 3, 5  # of the cell whose gates are computed


def pair(inputs: int, hidden: int, layers: int = 1) -> tuple[nn.GRU, nn.LSTM]:
    """Both on the meta device, since only shapes are needed."""
    return nn.GRU(inputs, hidden, layers, device="meta"), nn.LSTM(inputs, hidden, layers, device="meta")


def one_bias(layer: nn.RNNBase) -> int:
    """The count with one bias a gate, as on paper: PyTorch's second bias (`bias_hh`) left out."""
    return sum(p.numel() for name, p in layer.named_parameters() if "bias_hh" not in name)


def gru_size() -> Findings:
    """Exactly 3/4 when both follow one convention about biases. Keras' two layers follow two by default."""
    pairs = [pair(*sizes) for sizes in SIZES]
    two = max(abs(weights(gru) / weights(lstm) - 3 / 4) for gru, lstm in pairs)
    one = max(abs(one_bias(gru) / one_bias(lstm) - 3 / 4) for gru, lstm in pairs)

    # Keras' GRU (reset_after=True) holds two biases a gate, just as PyTorch's does; its LSTM holds one.
    inputs, hidden = 128, 64
    gru, lstm = pair(inputs, hidden)
    keras = weights(gru) / one_bias(lstm)
    formula = 3 / 4 * (inputs + hidden + 2) / (inputs + hidden + 1)
    only = f"{inputs}→{hidden}"
    two_conventions = corrected("Keras: GRU/LSTM = ¾·(in+h+2)/(in+h+1)", abs(keras - formula))

    embedding = nn.Embedding(10_000, inputs, _weight=unfilled(10_000, inputs))
    head = nn.Linear(hidden, 2, device="meta")
    saved = weights(embedding, lstm, head) - weights(embedding, gru, head)
    return measured_at(
        NAMED,
        right("GRU/LSTM = 3/4, two biases a gate (PyTorch)", two),
        right("GRU/LSTM = 3/4, one bias a gate (paper)", one),
        wrong("GRU/LSTM = 3/4 with Keras' defaults", abs(keras - 3 / 4)).at(only),
        two_conventions.at(only).showing(Value("GRU/LSTM", keras)),
        right("embedding and head do not shrink", abs(saved - weights(lstm) / 4), WHOLE).at(
            f"embedding of 10,000 × {inputs}, {only}, 2 classes"
        ),
    )


def gru_cost() -> Findings:
    """The cheaper choice where training is too slow: the matrix products shrink as the weights do."""
    ratios = []
    for inputs, hidden, layers in SIZES:
        gru, lstm = (layer.double() for layer in pair(inputs, hidden, layers))
        sequence = unfilled(10, 2, inputs)
        ratios.append(flops(gru, sequence) / flops(lstm, sequence))
    off = max(abs(ratio - 3 / 4) for ratio in ratios)
    return measured_at(f"{NAMED}; 10 steps, batch 2", right("a GRU's matrix products cost 3/4 of an LSTM's", off))


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
    return measured_at(
        f"batch {BATCH}, x of {INPUT}, h of {STATE}, random weights and biases",
        wrong("PyTorch: h = z∗h̃ + (1−z)∗h_prev", gap(new, z * after + (1 - z) * h)),
        corrected("PyTorch: h = (1−z)∗h̃ + z∗h_prev", gap(new, (1 - z) * after + z * h)),
        right("Γu∗c̃ + (1−Γu)∗c_prev is the same for Γu = 1−z", gap(new, update * after + (1 - update) * h)),
        wrong("PyTorch: h̃ = tanh(W·x + U·(r∗h_prev))", gap(new, (1 - z) * before + z * h)),
        corrected("PyTorch: h̃ = tanh(W·x + r∗(U·h_prev))", gap(new, (1 - z) * after + z * h)),
    )
