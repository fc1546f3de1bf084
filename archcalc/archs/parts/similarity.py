"""The comparison at the end of two towers: each sample of the one with each of the other, across the batch."""

from __future__ import annotations

from typing import ClassVar

from archcalc.archs.parts.flow import Flow, Signal
from archcalc.archs.parts.names import Names
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import Dim, Module, axes
from archcalc.layers.loss import cross_entropy
from archcalc.layers.similarity import OTHERS, similarity
from archcalc.spec.node import Node, field

TWO = 2


class Similarity(Node):
    """Cosines of two parts' outputs."""

    main: ClassVar[str] = "of"
    of: Names = field(..., "The two parts whose outputs, a vector each, are compared.", example=["words", "vision"])
    bias: bool = field(False, "A learned number is added to the scores, as in SigLIP.", example=True)

    def check(self, known: dict[str, Flow]) -> None:
        at = [("similarity",)]
        if len(self.of) != TWO:
            hint = "name two parts, such as `similarity: [words, vision]`"
            raise InputError(f"{len(self.of)} parts to compare", hint, fields=at)
        for name in self.of:
            if name not in known:
                raise InputError(f"no part called {name}", did_you_mean(name, known), fields=at)
            if known[name].shape.sides or known[name].number > 1:
                hint = "pool its positions, such as `head: {pool: mean}`"
                raise InputError(f"{name} gives {known[name]}, and not a vector for each sample", hint, fields=at)
            if known[name].is_absent:
                raise InputError(f"{name} is compared, and nothing comes in", "ask for one at least", fields=at)
        one, other = (known[name].shape for name in self.of)
        if one != other:
            hint = "project both to one width, such as `head: {kind: classifier, classes: 512, bias: false}`"
            raise InputError(f"vectors of {one} and of {other} numbers cannot be compared", hint, fields=at)

    def run(self, root: Module, signals: dict[str, Signal], *, trains: bool) -> None:
        """Scores; in training the loss of each sample's own score among its row, and among its column."""
        m = root.child("similarity")
        one, other = (signals[name].tensor for name in self.of)
        scores = similarity(m, one, other, bias=self.bias)
        if not trains:
            return
        rows = Dim.of(OTHERS, one.dims[0].size)
        turned = m.record("view", scores, to=axes(rows, one.dims[0]))
        for index, each in enumerate((scores, turned)):
            cross_entropy(root.section(f"loss {index}"), each)
