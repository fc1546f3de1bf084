"""RoPE: queries and keys are rotated by their positions, pair by pair (Su et al. 2021)."""

from __future__ import annotations

from collections.abc import Hashable
from math import ceil
from typing import Annotated, Literal, Self

from pydantic import Field

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.positions.encoding import Places, Reader, Site, Stored
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.attention import Heads
from archcalc.layers.attention_inputs import Inputs, Rotation
from archcalc.spec.node import field

WORD = "rope"


class Rope(Stored):
    theta: Annotated[float, Field(gt=0, allow_inf_nan=False)] = field(
        10_000.0, "The base of RoPE's angles.", example=500000.0
    )
    fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = field(
        1.0, "The share of each head that RoPE rotates.", example=0.25
    )
    axes: Literal[1, 2] = field(
        1,
        "What angles follow from: 1 for the place in the sequence, 2 for a patch's row and its column, which rotate"
        " half of a head each.",
        example=2,
    )

    @property
    def is_of_stack(self) -> bool:
        return self.stored

    def width(self, head_dim: int) -> int:
        """How much of each head is rotated. A share that is no whole number is rounded down, as transformers does."""
        return int(head_dim * self.fraction)

    def check(self, site: Site) -> None:
        super().check(site)
        if self.axes > 1 and site.patches is None:
            fact = "RoPE by row and column is of an image's patches, and this stack has none"
            raise InputError(fact, "leave axes out", fields=[(*place, "axes") for place in site.places])

    def check_layer(self, layer: Heads, at: Places) -> None:
        """Numbers are rotated two by two, by rows as many as by columns."""
        head_dim, width = layer.head_dim, self.width(layer.head_dim)
        if width and width % (2 * self.axes) == 0:
            return
        if self.axes > 1:
            fact = f"RoPE by row and column rotates pairs in both halves, and {width} is no multiple of four"
            raise InputError(fact, "use a head_dim that is", fields=[*at("position"), *at("head_dim")])
        whole = self.fraction == 1
        share = f"head_dim {head_dim} is odd" if whole else f"{self.fraction:g} of head_dim {head_dim} is {width}"
        even = ceil(max(width - width % 2, 2) / head_dim * 10**6) / 10**6  # rounded up: rounding down would lose one
        hint = f"use an even head_dim, or `fraction: {even:g}`" if head_dim > 1 else "use an even head_dim"
        raise InputError(f"RoPE rotates pairs, and {share}", hint, fields=[*at("position"), *at("head_dim")])

    def table(self, layer: Heads) -> Hashable:
        return self, self.width(layer.head_dim)

    def made_small(self) -> Self:
        """All of a head, or half of it."""
        return self if self.fraction == 1 else self.model_copy(update={"fraction": 0.5})

    def prepare(self, stack: Module, reader: Reader) -> None:
        """The stored angles."""
        m = stack["position"]
        if "weight" in m.params:
            return
        rows, width = Dim.of("positions", self.length or 0), Dim.of("rotated", self.width(reader.layer.head_dim))
        m.words.title = m.words.term = "angles"
        table = m.param("weight", rows, width, role=Role.POSITION_TABLE, trainable=False)
        m.record("lookup", table, to=axes(reader.x.dims[1], width), select=(rows,))

    def given_to(self, reader: Reader, inputs: Inputs) -> Inputs:
        width = self.width(reader.layer.head_dim)
        return inputs._replace(rotation=self.rotation(reader.x, width, reader.context))

    def rotation(self, x: Tensor, width: int, context: Context) -> Rotation:
        """Cosines and sines, one row for each position."""
        names = [f"{name} {self.theta} {width} {self.axes}" for name in ("cosines", "sines")]
        cosines, sines = (context.constant(name, "act", x.dims[1], Dim.of("rotated", width)) for name in names)
        return cosines, sines


ENCODING = Rope
