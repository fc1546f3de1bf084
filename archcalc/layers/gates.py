"""The gates of a recurrent cell, under the convention that the spec names.

    one    W·[h; x] + b: a matrix and a bias for each gate, as on paper; a GRU resets h before the product
    two    W·x + b + U·h + b′: all gates stacked in one W and one U, as in PyTorch and cuDNN; a GRU resets U·h + b′
    keras  as two, but with a single b in Keras' LSTM and SimpleRNN; its GRU (reset_after) has both
    none   as two, without biases

`one` is what a textbook draws; the others are what libraries keep, and what a checkpoint holds.
"""

from __future__ import annotations

from archcalc.core.count import Count, total
from archcalc.core.ir import Dim, Module, Part, Tensor, axes
from archcalc.layers.linear import linear

NAMES = {  # in the order in which PyTorch stacks them
    "lstm": ("update_gate", "forget_gate", "candidate", "output_gate"),
    "gru": ("reset_gate", "update_gate", "candidate"),
    "rnn": ("state",),
}
SYMBOLS = {"update_gate": "Γu", "forget_gate": "Γf", "output_gate": "Γo", "reset_gate": "Γr"}
PEEPING = ("update_gate", "forget_gate", "output_gate")  # the gates of an LSTM that may see its cell


class Gates:
    """The gates of one step, each computed when it is asked for."""

    def __init__(
        self,
        m: Module,
        kind: str,
        biases: str,
        hidden: Dim,
        inputs: tuple[Tensor, ...],
        h: Tensor,
        *,
        peephole: bool,
    ) -> None:
        self.m, self.kind, self.biases, self.hidden = m, kind, biases, hidden
        self.h, self.batch, self.peephole = h, h.dims[0], peephole
        x, *beside = inputs
        self.inputs = (x.seen_as(self.batch, Dim("input", x.dims[-1].size)), *beside)
        self.prepare()

    def prepare(self) -> None:
        """Compute what all gates share."""
        raise NotImplementedError

    def sums(self, name: str) -> Tensor:
        """What goes into the gate's σ or tanh."""
        raise NotImplementedError

    def gate(self, name: str, *, sees: Tensor | None = None) -> Tensor:
        """The gate, which through a peephole sees the cell as well."""
        raise NotImplementedError

    def candidate_after(self, reset: Tensor) -> Tensor:
        """A GRU's candidate, which sees as much of the state before as the reset gate lets through."""
        raise NotImplementedError


class OnPaper(Gates):
    """A matrix for each gate over the state before and the input, joined. A gate is a module of its own."""

    def prepare(self) -> None:
        self.joined = self._join(self.h, "joined", "h⟨t−1⟩")

    def _join(self, h: Tensor, name: str, symbol: str) -> Tensor:
        dim = _side_by_side((*self.inputs, h))
        note = f"[{'; '.join([symbol, *map(_symbol, self.inputs)])}]"
        return self.m.record("concat", h, *self.inputs, to=axes(self.batch, dim), name=name, note=note)

    def sums(self, name: str) -> Tensor:
        return linear(self._home(name), self.joined, self.hidden)

    def _home(self, name: str) -> Module:
        """A plain RNN has one sum only, which needs no name."""
        return self.m[name] if self.kind != "rnn" else self.m

    def gate(self, name: str, *, sees: Tensor | None = None) -> Tensor:
        m, into = self.m[name], self.sums(name)
        if self.peephole and sees is not None:
            into = m.record("add", into, m.record("multiply", sees, m.param("peephole", self.hidden)))
        return m.record("tanh" if name == "candidate" else "sigmoid", into)

    def candidate_after(self, reset: Tensor) -> Tensor:
        self.joined = self._join(self.m.record("multiply", reset, self.h), "joined_after_reset", "Γr∗h⟨t−1⟩")
        return self.gate("candidate")


class Stacked(Gates):
    """All gates in two matrices, one for the input and one for the state before."""

    def prepare(self) -> None:
        self.gates = Dim.of("gates", len(NAMES[self.kind]), copies=True)
        self.stack = (self.gates, self.hidden)
        keras = self.biases == "keras"
        x = self._x()
        self.from_x = self._product("kernel" if keras else "weight_ih", x)
        before = self.h.seen_as(self.batch, Dim("state", self.h.dims[-1].size))
        self.from_h = self._product("recurrent_kernel" if keras else "weight_hh", before)
        self._add_biases()
        self._describe(x.dims[-1].size, before.dims[-1].size)
        if self.kind != "gru":
            self.both = self.m.record("add", self.from_x, self.from_h)

    def _x(self) -> Tensor:
        if len(self.inputs) == 1:
            return self.inputs[0]
        to, note = axes(self.batch, _side_by_side(self.inputs)), f"[{'; '.join(map(_symbol, self.inputs))}]"
        return self.m.record("concat", *self.inputs, to=to, name="joined", note=note)

    def _product(self, name: str, x: Tensor) -> Tensor:
        """PyTorch keeps the axis of outputs first, Keras that of inputs."""
        into = x.dims[-1]
        elements = into.size * self.gates.size * self.hidden.size
        kept = (into, self.stack) if self.biases == "keras" else (self.stack, into)
        weight = self.m.param(name, *kept, elements=elements)
        return self.m.record("contract", x, weight, to=axes(self.batch, self.stack), over=(into,))

    def _add_biases(self) -> None:
        m = self.m
        if self.biases == "two":
            self.from_x = m.record("add", self.from_x, m.param("bias_ih", self.stack))
            self.from_h = m.record("add", self.from_h, m.param("bias_hh", self.stack))
        elif self.biases == "keras" and self.kind == "gru":
            elements = self.gates.size * (Count(2) * self.hidden.size)
            bias = m.param("bias", Dim.of("biases", 2), self.stack, elements=elements)
            self.from_x, self.from_h = m.record("add", self.from_x, bias), m.record("add", self.from_h, bias)
        elif self.biases == "keras":
            self.from_x = m.record("add", self.from_x, m.param("bias", self.stack))

    def _describe(self, into: Count, before: Count) -> None:
        """Each gate's share of the stacked tensors, which a textbook asks for."""
        width = self.hidden.size
        number = {"two": 2, "keras": 2 if self.kind == "gru" else 1, "none": 0}[self.biases]
        for name in NAMES[self.kind] if self.kind != "rnn" else ():
            vectors = number + (self.peephole and name in PEEPING)
            self.m.parts.append(Part(name, total([into * width, before * width, *[width] * vectors])))

    def sums(self, name: str) -> Tensor:
        if self.kind == "gru":
            return self.m.record("add", self._share(self.from_x), self._share(self.from_h))
        return self._share(self.both)

    def _share(self, stacked: Tensor) -> Tensor:
        if self.kind == "rnn":
            return stacked.seen_as(self.batch, self.hidden)
        return self.m.record("view", stacked, to=axes(self.batch, self.hidden), select=(self.gates,))

    def gate(self, name: str, *, sees: Tensor | None = None) -> Tensor:
        into = self.sums(name)
        if self.peephole and sees is not None:
            into = self.m.record("add", into, self.m["peephole"].record("multiply", sees, self._peephole()))
        return self._activated(name, into)

    def _peephole(self) -> Tensor:
        m, three = self.m["peephole"], (Dim.of("peepholes", len(PEEPING)), self.hidden)
        weight = m.params.get("weight") or m.param("weight", three)
        return weight.seen_as(self.hidden)

    def _activated(self, name: str, into: Tensor) -> Tensor:
        symbol = SYMBOLS.get(name, "c̃" if self.kind == "lstm" else "h̃")
        return self.m.record("tanh" if name == "candidate" else "sigmoid", into, name=name, note=symbol)

    def candidate_after(self, reset: Tensor) -> Tensor:
        let_through = self.m.record("multiply", reset, self._share(self.from_h))
        return self._activated("candidate", self.m.record("add", self._share(self.from_x), let_through))


def _symbol(tensor: Tensor) -> str:
    """What comes in, as on paper: x, the context of attention, or the h̃ that is fed back."""
    return {"context": "c", "fed": "h̃⟨t−1⟩"}.get(tensor.dims[-1].name, "x⟨t⟩")


def _side_by_side(tensors: tuple[Tensor, ...]) -> Dim:
    """`input+hidden`, of size `100 + 128`."""
    widths = [tensor.dims[-1] for tensor in tensors]
    return Dim("+".join(width.name for width in widths), sum((width.size for width in widths), Count(0)))
