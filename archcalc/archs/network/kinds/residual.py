"""Residual connections: `{residual: [...]}` adds what comes in to what its layers give.

Where the layers change the shape, `shortcut` says what happens: layers for the skip, or `none` for no skip there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from archcalc.archs.network.convolution import finished
from archcalc.archs.network.kinds.activation import Act, Activation, act_behind
from archcalc.archs.network.kinds.given import joined_with
from archcalc.archs.network.kinds.join import join
from archcalc.archs.network.layer import SEQUENCES, Place, Sequence, Shape, Trace
from archcalc.archs.network.values import Layers, Words
from archcalc.core.ir import Module, Tensor
from archcalc.spec.node import Node, as_tuple, field

WORDS = ("residual",)
READS = (SEQUENCES,)
NONE = "none"


class ResidualFields(Node):
    main: ClassVar[str] = "branch"
    branch: Layers = field(..., "Layers whose output is added to what comes in.", example=[{"conv": 64, "kernel": 1}])
    shortcut: Annotated[Any, Words()] = field(
        None, "Layers of the skip where the shape changes, or `none` for no skip there.", example="none"
    )
    act: Act | None = field(None, "The activation behind the sum.", example="relu")


@dataclass(frozen=True)
class Residual:
    spec_kind: ClassVar[str] = "residual"
    of_each_position: ClassVar[bool] = True
    branch: Sequence
    shortcut: Sequence | None  # None: what comes in is added as it is
    is_added: bool
    act: Activation | None

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        out = self.branch.run(m["branch"], x, trace)
        if self.is_added:
            skip = self.shortcut.run(m["shortcut"], x, trace) if self.shortcut else x
            out = join(m, "add", [out, skip], trace)
        return finished(m, out, None, self.act, trace)


FIELDS = ResidualFields


def read(word: str, fields: ResidualFields, shape: Shape, place: Place) -> tuple[Residual, Shape]:
    branch, behind = joined_with(shape.is_sequence, *place.reader.steps(fields.branch, shape, place.below(word)))
    act = act_behind(fields.act, behind)
    if behind == shape:
        return Residual(branch, None, True, act), behind
    if fields.shortcut == NONE:
        return Residual(branch, None, False, act), behind
    if fields.shortcut is None:
        fact = f"{shape} comes in and {behind} comes out, which cannot be added"
        hint = "write `shortcut: [{conv: …, kernel: 1, stride: …}]`, or `shortcut: none` for no skip here"
        raise place.wrong(fact, hint, word)
    shortcut, skipped = place.reader.steps(as_tuple(fields.shortcut), shape, place.below("shortcut"))
    if skipped != behind:
        raise place.wrong(f"the shortcut gives {skipped}, the branch {behind}", "make them equal", "shortcut")
    return Residual(branch, shortcut, True, act), behind
