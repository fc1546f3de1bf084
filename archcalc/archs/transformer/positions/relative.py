"""A learned bias on the scores for each head and bucket of distances (T5), or for each pair of rows and columns on the
grid of an image's patches (Swin, BEiT)."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from archcalc.archs.transformer.nodes import Sides
from archcalc.archs.transformer.positions.encoding import RELATIVE, Bucketed, Encoding, Reader, Site
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Module, Tensor
from archcalc.layers.attention import Heads
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.embedding import relative_bias
from archcalc.layers.patches import Patches, both_sides, times
from archcalc.spec.node import field

WORD = "relative"


class Relative(Bucketed):
    on_scores: ClassVar[bool] = True
    grid: Sides | None = field(
        None,
        "Relative positions tell rows and columns of an image's patches apart, instead of buckets: all of them.",
        example=[14, 14],
        unset="that of the image",
    )
    per: Literal["stack", "block"] = field(
        "stack",
        "Whether all blocks of a stack share a table of relative positions, or each has one.",
        example="block",
        beside={"buckets": 32},
    )

    gated: bool = field(
        False,
        "The bias of each head is multiplied by a gate that every position makes of its own part of that head's width"
        " (WavLM).",
        example=True,
        beside={"buckets": 320},
    )

    @property
    def is_of_stack(self) -> bool:
        return self.per == "stack"

    def goes_with(self, other: Encoding) -> bool:
        """A table of the stack, and one of each block: they add up."""
        return isinstance(other, Relative) and self.per != other.per

    def on_image(self, patches: Patches, site: Site) -> Self:
        """Without buckets, the rows and columns of all patches are told apart."""
        if self.buckets:
            return self
        if self.grid and both_sides(self.grid) != patches.grid:
            fact = f"a table for {times(*both_sides(self.grid))} patches, but the image has {times(*patches.grid)}"
            hint = "leave grid out: attention looks at all patches of the image, not at windows of them"
            raise InputError(fact, hint, fields=_of_grid(site))
        return self.model_copy(update={"grid": patches.grid})

    def check(self, site: Site) -> None:
        if self.grid is None and self.buckets is None:
            hint = "write `{kind: relative, buckets: 32}`; in windows of 7 × 7 places, `{kind: relative, grid: 7}`"
            raise InputError("relative positions need buckets, or a grid", hint, fields=site.places)
        if self.grid is None:
            return
        if self.buckets:
            hint = "keep one of them"
            raise InputError("buckets of distances and a grid exclude each other", hint, fields=site.places)
        if site.patches is None:
            fact = "a grid is of an image's patches, and this stack has none"
            raise InputError(fact, "give buckets, such as `buckets: 32`", fields=_of_grid(site))

    def check_one_table(self, layers: list[Heads], at: list[Path]) -> None:
        heads = sorted({layer.heads for layer in layers})
        if len(heads) > 1:
            counts = " and ".join(map(str, heads))
            fact = f"one relative position table for the stack, but attention layers with {counts} heads"
            hint = "give each block its own: `position: {kind: relative, buckets: 32, per: block}`"
            raise InputError(fact, hint, fields=at)

    def prepare(self, stack: Module, reader: Reader) -> Tensor:
        return self._bias(stack, reader)

    def given_to(self, reader: Reader, inputs: Inputs) -> Inputs:
        """The stack's table, the block's own, or the sum of both."""
        if self.per == "stack" and inputs.score_bias:
            return inputs
        return inputs._replace(score_bias=lambda m, q, k: self._on_scores(m, reader))

    def _on_scores(self, m: Module, reader: Reader) -> Tensor:
        bias = reader.prepared
        if self.per == "block":
            own = self._bias(m, reader)
            bias = m.record("add", own, bias) if bias else own
        assert bias
        if not self.gated:
            return bias
        from archcalc.layers.relative_gate import gated

        return gated(m, bias, reader.x, reader.layer.heads)

    def _bias(self, m: Module, reader: Reader) -> Tensor:
        rows = self.buckets or (reader.patches.differences if reader.patches else 0)
        m["position"].words.title = m["position"].words.term = RELATIVE
        distances = reader.context.constant(f"distances in {rows} buckets", "index", reader.x.dims[1], reader.past)
        return relative_bias(m["position"], reader.layer.heads, rows, distances)


def _of_grid(site: Site) -> list[Path]:
    return [*((*place, "grid") for place in site.places), *site.places]


ENCODING = Relative
