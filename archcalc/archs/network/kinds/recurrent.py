"""Recurrent layers over a sequence: `{lstm: 256, bidirectional: true}`, `gru`, `rnn`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.archs.recurrent.layers import biases_note, run_layers
from archcalc.archs.recurrent.stack import ALONE, Layer, Layers, ResolvedStack
from archcalc.core.assumptions import Topic, all_on
from archcalc.core.ir import Module, Tensor, axes
from archcalc.spec.node import Node, Size, field

WORDS = ("lstm", "gru", "rnn")
READS = (SEQUENCES,)
MOST_LAYERS = 100


class RecurrentFields(Node):
    main: ClassVar[str] = "hidden"
    hidden: Size = field(..., "The width of the state.", example=256)
    layers: Size = field(1, "How many are stacked, each with weights of its own.", example=2)
    bidirectional: bool = field(
        False, "A second net reads the sequence backwards, and both outputs stand side by side.", example=True
    )
    biases: Literal["one", "two", "keras", "none"] = field(
        "one",
        "Biases of each gate: `one` (textbooks), `two` (PyTorch), `keras` (its GRU, reset after) or `none`.",
        example="two",
    )
    give: Literal["each", "last"] = field(
        "each", "What comes out: the outputs at each position, or the last state as a vector.", example="last"
    )


@dataclass(frozen=True)
class Recurrent:
    spec_kind: ClassVar[str] = "recurrent"
    stack: ResolvedStack
    give: str

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        """From zeros. No state is kept for later positions: a network is not run token by token."""
        m.words.notes += all_on(Topic.ARCHITECTURE, [biases_note(self.stack)])
        made = run_layers(m, x, self.stack, trace.work.of_encoder())
        batch, _, positions = parts(x)
        width = trace.channels(self.stack.top.output, 0)
        if self.give == "last":
            return m.record("view", made.last(m), to=axes(batch, width))
        return m.record("view", made.outputs, to=axes(batch, *positions, width))


FIELDS = RecurrentFields


def read(word: str, fields: RecurrentFields, shape: Shape, place: Place) -> tuple[Recurrent, Shape]:
    if not shape.is_sequence:
        hint = "put `sequence` before it, such as `{sequence: width}` for a map, or write `input: tokens`"
        raise place.wrong(f"a recurrent layer reads a sequence, and {shape} comes in", hint, word)
    if fields.layers > MOST_LAYERS:
        raise place.wrong(f"more than {MOST_LAYERS} recurrent layers", "use fewer", "layers")
    first = Layer(shape.channels, 0, fields.hidden, None, 1 + fields.bidirectional, False)
    behind = replace(shape, channels=first.output)
    stack = ResolvedStack(
        name=ALONE,
        vocab=None,
        embedding=None,
        one_hot=False,
        one_hot_bias=False,
        shared=False,
        input=shape.channels,
        cell=word,
        biases=fields.biases,
        peephole=False,
        dropout=0.0,
        layers=_stacked(first, fields.layers),
    )
    return Recurrent(stack, fields.give), behind if fields.give == "each" else Shape(first.output)


def _stacked(first: Layer, number: int) -> tuple[Layers, ...]:
    """Equal layers as one; the first may read another width than those above."""
    above = replace(first, input=first.output)
    if first == above or number == 1:
        return (Layers(1, number, first),)
    return (Layers(1, 1, first), Layers(2, number - 1, above))
