"""Recurrent cells in plain PyTorch, one time step each: LSTM, GRU and plain RNN, under each convention for biases."""

from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference.layers import Weight, run, side_by_side, weight_if

State = tuple[Tensor, ...]
GATES = {
    "lstm": ("update_gate", "forget_gate", "candidate", "output_gate"),
    "gru": ("reset_gate", "update_gate", "candidate"),
    "rnn": ("state",),
}
PEEPING = ("update_gate", "forget_gate", "output_gate")


def zeros(stack: dict[str, Any], layer: dict[str, Any], batch: int, like: Tensor) -> State:
    """The state before the first step: h, and an LSTM's c."""
    widths = [layer["projection"] or layer["hidden"]]
    if stack["cell"] == "lstm":
        widths.append(layer["hidden"])
    return tuple(like.new_zeros(batch, width) for width in widths)


def make_cell(stack: dict[str, Any], layer: dict[str, Any]) -> nn.Module:
    """The cell of a layer."""
    if stack["biases"] == "one":
        return CellOnPaper(stack, layer)
    return StackedCell(stack, layer)


class Cell(nn.Module):
    """One step: from what comes in and the state before to the state after."""

    def __init__(self, stack: dict[str, Any], layer: dict[str, Any]) -> None:
        super().__init__()
        self.kind, self.biases, self.peeps = stack["cell"], stack["biases"], stack["peephole"]
        self.hidden, self.into = layer["hidden"], layer["input"] + layer["context"]
        self.state = layer["projection"] or layer["hidden"]
        if layer["projection"]:
            self.projection = nn.Linear(self.hidden, layer["projection"], bias=False)

    def forward(self, inputs: list[Tensor], before: State) -> State:
        h, *others = {"lstm": self.lstm, "gru": self.gru, "rnn": self.rnn}[self.kind](inputs, before)
        return run(self, "projection", h), *others


class CellOnPaper(Cell):
    """A matrix and a bias for each gate, over the state before and the input side by side."""

    def __init__(self, stack: dict[str, Any], layer: dict[str, Any]) -> None:
        super().__init__(stack, layer)
        width = self.state + self.into
        if self.kind == "rnn":
            self.weight = nn.Parameter(torch.zeros(self.hidden, width))
            self.bias = nn.Parameter(torch.zeros(self.hidden))
            return
        for name in GATES[self.kind]:
            peeps, act = self.peeps and name in PEEPING, {"candidate": torch.tanh}.get(name, torch.sigmoid)
            self.add_module(name, Gate(width, self.hidden, act, peeps))

    def lstm(self, inputs: list[Tensor], before: State) -> State:
        h, c = before
        joined = torch.cat((h, *inputs), dim=1)
        c = self.update_gate(joined, c) * self.candidate(joined) + self.forget_gate(joined, c) * c
        return self.output_gate(joined, c) * torch.tanh(c), c

    def gru(self, inputs: list[Tensor], before: State) -> State:
        (h,) = before
        joined = torch.cat((h, *inputs), dim=1)
        reset, update = self.reset_gate(joined), self.update_gate(joined)
        candidate = self.candidate(torch.cat((reset * h, *inputs), dim=1))
        return (update * h + (1 - update) * candidate,)

    def rnn(self, inputs: list[Tensor], before: State) -> State:
        joined = torch.cat((before[0], *inputs), dim=1)
        return (torch.tanh(nn.functional.linear(joined, self.weight, self.bias)),)


class Gate(nn.Linear):
    """σ or tanh of a linear layer, which may see the cell through a peephole."""

    def __init__(self, into: int, hidden: int, act: Any, peeps: bool) -> None:
        super().__init__(into, hidden)
        self.act = act
        self.peephole = weight_if(peeps, hidden)

    def forward(self, x: Tensor, cell: Tensor | None = None) -> Tensor:
        y = super().forward(x)
        if self.peephole is not None and cell is not None:
            y = y + cell * self.peephole
        return self.act(y)


class StackedCell(Cell):
    """All gates in one matrix for the input and one for the state before, as PyTorch, cuDNN and Keras keep them."""

    def __init__(self, stack: dict[str, Any], layer: dict[str, Any]) -> None:
        super().__init__(stack, layer)
        wide = len(GATES[self.kind]) * self.hidden
        if self.biases == "keras":
            self.kernel = nn.Parameter(torch.zeros(self.into, wide))
            self.recurrent_kernel = nn.Parameter(torch.zeros(self.state, wide))
            self.bias = nn.Parameter(torch.zeros({"gru": (2, wide)}.get(self.kind, (wide,))))
        else:
            self.weight_ih = nn.Parameter(torch.zeros(wide, self.into))
            self.weight_hh = nn.Parameter(torch.zeros(wide, self.state))
            self.bias_ih, self.bias_hh = (weight_if(self.biases == "two", wide) for _ in range(2))
        if self.peeps:
            self.peephole = Peephole(len(PEEPING) * self.hidden)

    def _products(self, inputs: list[Tensor], h: Tensor) -> tuple[Tensor, Tensor]:
        x = side_by_side(inputs, dim=1)
        if self.biases != "keras":
            linear = nn.functional.linear
            return linear(x, self.weight_ih, self.bias_ih), linear(h, self.weight_hh, self.bias_hh)
        from_x, from_h = x @ self.kernel, h @ self.recurrent_kernel
        if self.kind == "gru":
            return from_x + self.bias[0], from_h + self.bias[1]
        return from_x + self.bias, from_h

    def lstm(self, inputs: list[Tensor], before: State) -> State:
        h, c = before
        update, forget, candidate, out = torch.add(*self._products(inputs, h)).chunk(4, dim=1)
        update, forget = (torch.sigmoid(self._peeping(gate, c, i)) for i, gate in enumerate((update, forget)))
        c = update * torch.tanh(candidate) + forget * c
        return torch.sigmoid(self._peeping(out, c, 2)) * torch.tanh(c), c

    def _peeping(self, gate: Tensor, cell: Tensor, index: int) -> Tensor:
        if not self.peeps:
            return gate
        return gate + self.peephole(cell, index)

    def gru(self, inputs: list[Tensor], before: State) -> State:
        (h,) = before
        from_x, from_h = (product.chunk(3, dim=1) for product in self._products(inputs, h))
        reset, update = torch.sigmoid(from_x[0] + from_h[0]), torch.sigmoid(from_x[1] + from_h[1])
        candidate = torch.tanh(from_x[2] + reset * from_h[2])
        return (update * h + (1 - update) * candidate,)

    def rnn(self, inputs: list[Tensor], before: State) -> State:
        from_x, from_h = self._products(inputs, before[0])
        return (torch.tanh(from_x + from_h),)


class Peephole(Weight):
    """What the three gates of an LSTM see of its cell, in one vector."""

    def forward(self, cell: Tensor, index: int) -> Tensor:
        return cell * self.weight.view(len(PEEPING), -1)[index]
