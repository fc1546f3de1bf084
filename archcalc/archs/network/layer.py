"""What a layer of a network is: a frozen dataclass of filled-in values with a forward pass.

A kind of layer is a file in `archcalc.archs.network.kinds` with `WORDS` (how specs call it), `FIELDS` (its fields as
written) and `read(word, fields, shape, place)`, which gives the layer and the shape behind it;
`MAY_STAND_ALONE` if a word alone is such a layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from archcalc.archs.network.place import Trace
from archcalc.core.count import Count
from archcalc.core.ir import Module, Region, Tensor


class Layer(Protocol):
    spec_kind: ClassVar[str]

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor: ...


@dataclass(frozen=True)
class Step:
    """A layer in its place: what it is called, and how many equal ones follow each other."""

    name: str
    layer: Layer
    repeat: int = 1
    signal: str = ""  # the name that the spec gives its output

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        child = m.child(self.name, repeat=Count.named(self.name, self.repeat))
        out = self.layer.run(child, x, trace)
        if self.repeat > 1:
            out = out.seen_as(*x.axes)
            child.carries.append((x, out))
        if self.signal:
            trace.signals[self.signal] = out
        return out


@dataclass(frozen=True)
class Sequence:
    """Layers one after the other: the whole network, a block, a branch. A single layer stands for itself."""

    spec_kind: ClassVar[str] = "sequence"
    steps: tuple[Step, ...]
    is_block: bool = False  # activation checkpointing recomputes blocks

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        if self.is_block:
            m.region = Region.BLOCK
        if len(self.steps) == 1 and self.steps[0].repeat == 1:
            return self.steps[0].layer.run(m, x, trace)
        return self.run_steps(m, x, trace)

    def run_steps(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        """Each under its own name."""
        known = dict(trace.signals)
        for step in self.steps:
            x = step.run(m, x, trace)
        trace.signals = known
        return x
