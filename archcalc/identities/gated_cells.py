"""The LSTM's backward pass by hand, each formula on its own, against automatic differentiation; and the GRU.

One step of an LSTM, with [a;x] the previous output above the input, and γ what a gate sees before its sigmoid:

    γu = W_u·[a;x] + b_u    Γu = σ(γu)         update
    γf = W_f·[a;x] + b_f    Γf = σ(γf)         forget
    γo = W_o·[a;x] + b_o    Γo = σ(γo)         output
    pc̃ = W_c·[a;x] + b_c    c̃  = tanh(pc̃)      candidate
    c  = Γu∗c̃ + Γf∗c_prev   a  = Γo∗tanh(c)    z = W_y·a + b_y    ŷ = softmax(z)

The loss L is the cross-entropy summed over the steps. In the code `v.c` are the values of c, a row for each
step, and `d.c` is ∂L/∂c.

A GRU of the same sizes has three gates' worth of weights instead of four; its gates are those of PyTorch.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn, sigmoid, softmax, tanh

from archcalc.identities.finding import WHOLE, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import filled, flops, gap, gaussian, unfilled, weights

STEPS, INPUT, STATE, CLASSES = 4, 3, 5, 6
SIZES = f"{STEPS} steps, x of {INPUT}, a and c of {STATE}, {CLASSES} classes"


class Weights(NamedTuple):
    """What is learned, or the loss's derivatives by it: a matrix and a bias for each gate and the output."""

    u: Tensor
    f: Tensor
    o: Tensor
    c: Tensor
    y: Tensor
    b_u: Tensor
    b_f: Tensor
    b_o: Tensor
    b_c: Tensor
    b_y: Tensor


class Signals(NamedTuple):
    """Everything on the way from the input of a step to its logits, or the loss's derivatives by it."""

    x: Tensor
    a_prev: Tensor
    c_prev: Tensor
    pre_u: Tensor
    pre_f: Tensor
    pre_o: Tensor
    pre_c: Tensor
    u: Tensor
    f: Tensor
    o: Tensor
    c_tilde: Tensor
    c: Tensor
    a: Tensor
    z: Tensor


class Pass(NamedTuple):
    """One pass forward (v) and backward (d) over a sequence, as autograd sees it."""

    w: Weights
    dw: Weights
    v: Signals
    d: Signals
    y: Tensor  # the labels, one-hot


def step(w: Weights, x: Tensor, a_prev: Tensor, c_prev: Tensor) -> Signals:
    """One step forward, line by line as above."""
    ax = torch.cat([a_prev, x])
    pre_u, pre_f, pre_o, pre_c = w.u @ ax + w.b_u, w.f @ ax + w.b_f, w.o @ ax + w.b_o, w.c @ ax + w.b_c
    u, f, o, c_tilde = sigmoid(pre_u), sigmoid(pre_f), sigmoid(pre_o), tanh(pre_c)
    c = u * c_tilde + f * c_prev
    a = o * tanh(c)
    z = w.y @ a + w.b_y
    return Signals(x, a_prev, c_prev, pre_u, pre_f, pre_o, pre_c, u, f, o, c_tilde, c, a, z)


def forward_and_backward() -> Pass:
    """A random LSTM on a random sequence, from a random state so that no factor is zero by chance."""
    normal = gaussian(seed=2)
    gates = [normal(STATE, STATE + INPUT) for _ in "ufoc"]
    biases = [normal(STATE) for _ in "ufoc"]
    w = Weights(*(t.requires_grad_() for t in (*gates, normal(CLASSES, STATE), *biases, normal(CLASSES))))
    a, c = normal(STATE).requires_grad_(), normal(STATE).requires_grad_()

    steps: list[Signals] = []
    for x in normal(STEPS, INPUT):
        steps.append(step(w, x.requires_grad_(), a, c))
        a, c = steps[-1].a, steps[-1].c
    y = torch.eye(CLASSES, dtype=torch.float64)[[2, 0, 5, 2]]
    loss = -sum((label * torch.log_softmax(s.z, dim=0)).sum() for s, label in zip(steps, y, strict=True))

    wanted = [signal for s in steps for signal in s]
    grads = torch.autograd.grad(loss, [*w, *wanted])
    dw, ds = grads[: len(w)], grads[len(w) :]
    v = Signals(*(torch.stack(rows).detach() for rows in zip(*steps, strict=True)))
    d = Signals(*(torch.stack(ds[i :: len(v)]) for i in range(len(v))))
    return Pass(Weights(*(t.detach() for t in w)), Weights(*dw), v, d, y)


def outer(by_row: Tensor, by_column: Tensor) -> Tensor:
    """The sum over the steps of one column times one row: every step uses the same weights."""
    return by_row.T @ by_column


def lstm_gradients() -> Findings:
    """Each derivative from the one after it, so that a mistake shows in its own line only."""
    w, dw, v, d, y = forward_and_backward()
    ax = torch.cat([v.a_prev, v.x], dim=1)
    slope = 1 - tanh(v.c) ** 2
    # The final step has no next one. Within the sequence c_prev, a_prev are the step before's c and a, which
    # reach the loss in other ways too; before the first step they are not, and the formula stands alone.
    none = torch.zeros(1, STATE, dtype=torch.float64)
    dc_next = torch.cat([d.c[1:] * v.f[1:], none])
    d_ax = d.pre_u @ w.u + d.pre_f @ w.f + d.pre_o @ w.o + d.pre_c @ w.c
    da_next = torch.cat([d_ax[1:, :STATE], none])
    gates = ((dw.u, d.pre_u), (dw.f, d.pre_f), (dw.o, d.pre_o), (dw.c, d.pre_c))
    biases = ((dw.b_u, d.pre_u), (dw.b_f, d.pre_f), (dw.b_o, d.pre_o), (dw.b_c, d.pre_c), (dw.b_y, d.z))
    return measured_at(
        SIZES,
        right("∂L/∂a = W_yᵀ·(ŷ−y) + da_next", gap(d.a, (softmax(v.z, dim=1) - y) @ w.y + da_next)),
        right("∂L/∂c = dc_next + da∗Γo∗(1−tanh²c)", gap(d.c, dc_next + d.a * v.o * slope)),
        right("∂L/∂γu = dc∗c̃∗Γu(1−Γu)", gap(d.pre_u, d.c * v.c_tilde * v.u * (1 - v.u))),
        right("∂L/∂γf = dc∗c_prev∗Γf(1−Γf)", gap(d.pre_f, d.c * v.c_prev * v.f * (1 - v.f))),
        right("∂L/∂γo = da∗tanh(c)∗Γo(1−Γo)", gap(d.pre_o, d.a * tanh(v.c) * v.o * (1 - v.o))),
        right("∂L/∂c̃ = dc∗Γu", gap(d.c_tilde, d.c * v.u)),
        right("∂L/∂pc̃ = dc∗Γu∗(1−c̃²)", gap(d.pre_c, d.c * v.u * (1 - v.c_tilde**2))),
        right("dc_prev = dc∗Γf", gap(d.c_prev[0], d.c[0] * v.f[0])),
        right("da_prev = Σ Wᵀ·dγ, the rows of a", gap(d.a_prev[0], d_ax[0, :STATE])),
        right("dx = Σ Wᵀ·dγ, the rows of x", gap(d.x, d_ax[:, STATE:])),
        right("∂L/∂W = Σ_t dγ·[a;x]ᵀ, for all four gates", max(gap(w, outer(p, ax)) for w, p in gates)),
        right("∂L/∂W_y = Σ_t (ŷ−y)·aᵀ", gap(dw.y, outer(d.z, v.a))),
        right("∂L/∂b = Σ_t dγ, and Σ_t (ŷ−y) for b_y", max(gap(b, p.sum(0)) for b, p in biases)),
    )


def lstm_forget_gate() -> Findings:
    """Γf multiplies c_prev, so c_prev is what its derivative carries; c̃ belongs to the update gate."""
    _, dw, v, d, _ = forward_and_backward()
    ax = torch.cat([v.a_prev, v.x], dim=1)
    through = d.c * v.f * (1 - v.f)
    return measured_at(
        SIZES,
        wrong("∂L/∂γf = dc∗c̃∗Γf(1−Γf)", gap(d.pre_f, through * v.c_tilde)),
        corrected("∂L/∂γf = dc∗c_prev∗Γf(1−Γf)", gap(d.pre_f, through * v.c_prev)),
        wrong("∂E/∂W_f = Σ_t (dc∗Γf(1−Γf))·[a;x]ᵀ", gap(dw.f, outer(through, ax))),
        corrected("∂E/∂W_f = Σ_t (dc∗c_prev∗Γf(1−Γf))·[a;x]ᵀ", gap(dw.f, outer(through * v.c_prev, ax))),
    )


def lstm_cell_state() -> Findings:
    """With E the derivative arriving at a = o∗tanh(c); at the last step, where nothing else reaches c."""
    _, _, v, d, _ = forward_and_backward()
    e, o, slope = d.a[-1], v.o[-1], 1 - tanh(v.c[-1]) ** 2
    return measured_at(
        SIZES,
        wrong("∂E/∂c = E∗(1−tanh²c)", gap(d.c[-1], e * slope)),
        corrected("∂E/∂c = E∗o∗(1−tanh²c)", gap(d.c[-1], e * o * slope)),
    )


def cross_entropy() -> Findings:
    """The exponential of the softmax and the logarithm of the loss cancel, and a plain difference is left."""
    _, _, v, d, y = forward_and_backward()
    after_softmax = gap(d.z, softmax(v.z, dim=1) - y)
    return measured_at(SIZES, right("∂L/∂z = ŷ−y, cross-entropy after softmax", after_softmax))


WIDTHS = ((128, 64, 1), (300, 512, 2), (7, 5, 3))  # input, hidden, layers
NAMED = ", ".join(f"{inputs}→{hidden} of {layers}" for inputs, hidden, layers in WIDTHS) + " layers"
BATCH = 4  # of the GRU cell whose gates are computed


def pair(inputs: int, hidden: int, layers: int = 1) -> tuple[nn.GRU, nn.LSTM]:
    """Both on the meta device, since only shapes are needed."""
    return nn.GRU(inputs, hidden, layers, device="meta"), nn.LSTM(inputs, hidden, layers, device="meta")


def one_bias(layer: nn.RNNBase) -> int:
    """The count with one bias a gate, as on paper: PyTorch's second bias (`bias_hh`) left out."""
    return sum(p.numel() for name, p in layer.named_parameters() if "bias_hh" not in name)


def gru_size() -> Findings:
    """Exactly 3/4 when both follow one convention about biases. Keras' two layers follow two by default."""
    pairs = [pair(*sizes) for sizes in WIDTHS]
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
    for inputs, hidden, layers in WIDTHS:
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
