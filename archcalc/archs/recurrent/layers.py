"""Recurrent layers over a whole sequence: each a cell that is called once for every position."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from archcalc.archs.recurrent.stack import ALONE, Layer, Layers, ResolvedStack
from archcalc.core.count import Count
from archcalc.core.ir import Axis, Dim, Module, ModuleGroup, Region, Tensor, axes
from archcalc.layers.dropout import dropped
from archcalc.layers.linear import width_of
from archcalc.layers.recurrent import Cell, State
from archcalc.spec.workload import Workload

STATES = ("hidden_state", "cell_state")
_BIASES = {
    "one": "one bias per gate, as in textbooks (biases: one); PyTorch and cuDNN have two",
    "two": "two biases per gate, as in PyTorch and cuDNN (biases: two)",
    "keras": "one bias per gate, as in Keras (biases: keras)",
    "keras gru": "two biases per gate, as in Keras' GRU with reset_after (biases: keras)",
    "none": "no biases in the recurrent layers (biases: none)",
}


@dataclass(frozen=True)
class LastStates:
    """The states of layers of equal width, stacked like PyTorch's h_n and c_n."""

    first: int  # the lowest of these layers
    stacked: State


@dataclass(frozen=True)
class Outcome:
    """The results of a stack: its outputs at every position, and its last states."""

    outputs: Tensor
    top: Tensor  # the top layer's last h, in one direction
    states: tuple[LastStates, ...] = ()

    def last(self, m: Module) -> Tensor:
        """The top layer's last h, concatenated over both directions."""
        width = self.outputs.axes[-1]
        if len(width) == 1:
            return m.record("view", self.top, to=axes(*self.top.axes), name="last_state")
        both = axes(self.outputs.dims[0], width)
        return m.record("concat", self.top, self.top, to=both, name="last_states", note="h of both directions")


Start = Outcome | Tensor | None  # what a stack starts from


def biases_note(stack: ResolvedStack) -> str:
    """The conventions of textbooks and libraries differ."""
    return _BIASES.get(f"{stack.biases} {stack.cell}") or _BIASES[stack.biases]


def cell_of(stack: ResolvedStack, layer: Layer) -> Cell:
    return Cell(stack.cell, stack.biases, layer.hidden, layer.projection, stack.peephole, state_letter(stack))


def state_letter(stack: ResolvedStack) -> str:
    """The hidden state is a⟨t⟩ where a course writes a net on paper, h⟨t⟩ in libraries and in papers on translation."""
    return "a" if stack.biases == "one" and stack.name == ALONE else "h"


def run_layers(
    m: Module, x: Tensor, stack: ResolvedStack, work: Workload, start: Start = None, context: Tensor | None = None
) -> Outcome:
    """Layer by layer, each over the whole sequence, from zeros or from another stack's last states. The first layer
    reads the context at every step, if there is one."""
    ends: list[tuple[Layers, State]] = []
    for group in stack.layers:
        child = m.child(f"layer_{group.first}", repeat=Count.named("layers", group.times), group=ModuleGroup.BLOCKS)
        child.words.title = title(group, stack)
        child.words.term = child.words.title if stack.name == ALONE else f"{stack.name} {child.words.title}"
        out, end = _run_layer(child, (x, context), group, stack, work, start)
        child.carries.append((x, out))
        ends.append((group, end))
        x = out
    ended = last_states(m, ends, x.dims[0])
    looks_ahead = any(group.layer.directions > 1 for group in stack.layers)  # which rules out decoding
    if work.keeps_cache and not looks_ahead:
        keep(m, ended)
        if context:
            m.record("append", context)
    return Outcome(x, ends[-1][1][0], ended)


def title(group: Layers, stack: ResolvedStack) -> str:
    """`layer 1`, `layers 2–8`, or `layer` where all are equal."""
    if group.times == stack.depth:
        return "layer"
    return f"layer {group.first}" if group.times == 1 else f"layers {group.first}–{group.last}"


def _run_layer(
    m: Module, read: tuple[Tensor, Tensor | None], group: Layers, stack: ResolvedStack, work: Workload, start: Start
) -> tuple[Tensor, State]:
    x, context = read
    batch, seq = x.dims[:2]
    layer, cell = group.layer, cell_of(stack, group.layer)
    directions = Dim.of("directions", layer.directions)
    both = layer.directions > 1
    into = dropped(m, x, stack.dropout, work, "between")
    one = m.child("direction", repeat=directions.size) if both else m
    one.is_side_by_side = both
    before = initial(one, start, group, cell, batch)
    step = one["cell"]  # one per position; each passes its state to the next
    step.calls, step.region = seq.size, Region.STEP
    step.words.title = step.words.term = f"{cell.kind.upper()} step"
    inputs = (at_position(step, into, seq), context) if layer.context and context else (at_position(step, into, seq),)
    after = cell.step(step, inputs, before)
    for old, new in zip(before, after, strict=True):
        step.carries.append((old, new))
    width: Axis = (directions, cell.kept[0]) if both else (cell.kept[0],)
    note = "both directions side by side" if both else ""
    out = m.record("concat", after[0], to=axes(batch, seq, width), name="outputs", note=note)
    if layer.residual:
        out = m.record("add", out, x.seen_as(batch, seq, width), name="residual", note="outputs + inputs")
    return out, after


def at_position(m: Module, x: Tensor, seq: Dim) -> Tensor:
    """One position of a sequence."""
    width = Dim("input", width_of(x.axes[-1]))
    return m.record("view", x, to=axes(x.dims[0], width), select=(seq,), name="x", note="x⟨t⟩")


def keep(m: Module, ended: tuple[LastStates, ...]) -> None:
    """The state that a decode step caches for the next token."""
    for last in ended:
        for tensor in last.stacked:
            m.record("append", tensor)


def last_states(m: Module, ends: list[tuple[Layers, State]], batch: Dim) -> tuple[LastStates, ...]:
    """Groups layers of equal width, in order."""
    stacks: list[LastStates] = []
    for _, alike in groupby(ends, key=lambda end: end[0].layer.widths):
        groups, states = zip(*alike, strict=True)
        layers = Dim.of("layers", sum(group.times for group in groups))
        rows: Axis = (layers, Dim.of("directions", groups[0].layer.directions))
        rows = rows if groups[0].layer.directions > 1 else rows[:1]
        suffix = f"_of_layer_{groups[0].first}" if stacks else ""
        several = " × ".join(f"{dim.size:,} {dim.name}" for dim in rows if dim.size > 1)
        note = f"at the end: {several}" if several else "at the end"
        stacked: list[Tensor] = []
        for name, tensors in zip(STATES, zip(*states, strict=True), strict=False):
            to = axes(rows, batch, tensors[0].dims[-1])
            stacked.append(m.record("concat", *tensors, to=to, name=name + suffix, note=note, is_aside=True))
        stacks.append(LastStates(groups[0].first, tuple(stacked)))
    return tuple(stacks)


def initial(m: Module, start: Start, group: Layers, cell: Cell, batch: Dim) -> State:
    """Zeros, the last states of another stack, or a vector in the place of h."""
    if isinstance(start, Outcome):
        return _handed_over(m, start, group, cell)
    zeros = cell.zeros(m, batch)
    return (start.seen_as(batch, cell.kept[0]), *zeros[1:]) if start else zeros


def _handed_over(m: Module, start: Outcome, group: Layers, cell: Cell) -> State:
    """The encoder's last states of the same layers, concatenated over both directions."""
    found = next(last for last in reversed(start.states) if last.first <= group.first)
    states: list[Tensor] = []
    for stacked, width in zip(found.stacked, cell.kept, strict=True):
        rows, (batch,), (ended,) = stacked.axes
        seen = stacked.seen_as(rows, batch, Dim("handed_over", ended.size))
        states.append(m.record("view", seen, to=axes(batch, width), select=rows))
    return tuple(states)
