"""A learned vector for each position, added to the embedding: of tokens (GPT-2, BERT), or of patches (ViT)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field

from archcalc.archs.transformer.nodes import Sides
from archcalc.archs.transformer.positions.encoding import Encoding, Site
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.embedding import add_learned_positions
from archcalc.layers.patches import Patches, add_interpolated, add_sides, add_table, both_sides, grid, times
from archcalc.spec.node import Size, field

WORD = "learned"


class Learned(Encoding):
    on_embedding: ClassVar[bool] = True
    offset: Annotated[int, Field(ge=0, le=1024)] = field(
        0,
        "Rows in front of a learned table that no token uses, as in OPT and BART.",
        example=2,
        beside={"length": 1024},
    )

    interpolated: Sides | None = field(
        None,
        "Rows and columns of a table that is interpolated to the patches of whatever image there is: one side, or"
        " [rows, columns].",
        example=48,
        unset="a vector for each patch of the image",
    )

    per_side: Size | None = field(
        None,
        "Rows of a table for each side of an image: a patch gets the vector of its row and that of its column.",
        example=1024,
        unset="one table for both",
    )

    def on_image(self, patches: Patches, site: Site) -> Self:
        if self.offset:
            raise InputError("every position of an image is used", "leave offset out", fields=site.of_stack)
        if self.per_side:
            self._check_sides(self.per_side, patches, site)
            return self
        if not self.interpolated:
            return self.with_rows(patches, site.of_stack)
        if self.length:
            fact = "an interpolated table has a vector for each of its rows and columns"
            raise InputError(fact, "leave length out", fields=[(*place, "length") for place in site.of_stack])
        return self

    def _check_sides(self, rows: int, patches: Patches, site: Site) -> None:
        if self.length or self.interpolated or patches.tokens:
            fact = "a table for each side has a vector for each row and column of patches"
            raise InputError(fact, "leave length, interpolated and tokens out", fields=site.of_stack)
        if max(patches.grid) > rows:
            fact = f"a table of {rows:,} rows for each side, and {times(*patches.grid)} patches"
            raise InputError(fact, "use a smaller image", fields=[(*place, "per_side") for place in site.of_stack])

    def check(self, site: Site) -> None:
        if self.per_side and site.patches is None:
            fact = "a table for each side is of an image's patches, and this stack has none"
            raise InputError(fact, "give length instead, such as `length: 1024`", fields=site.places)
        if not (self.interpolated or self.per_side):
            self.check_given("length", 1024, site)
        elif self.interpolated and site.patches is None:
            fact = "an interpolated table is of an image's patches, and this stack has none"
            raise InputError(fact, "give length instead, such as `length: 1024`", fields=site.places)
        if self.length is not None and self.offset > self.length:
            fact = f"an offset of {self.offset:,} unused rows is more than the length of {self.length:,}"
            hint = "offset is the number of unused rows at the start of the table, such as 2"
            raise InputError(fact, hint, fields=site.places)

    def add_to(self, m: Module, x: Tensor, patches: Patches | None) -> Tensor:
        if not patches:
            assert self.length
            return add_learned_positions(m["positions"], x, self.length, self.offset)
        if self.per_side:
            return add_sides(m["positions"], x, self.per_side)
        if self.interpolated:
            return add_interpolated(m["positions"], x, both_sides(self.interpolated), patches)
        m.words.notes.extend(interpolated(patches))
        return add_table(m["positions"], x)


def interpolated(cut: Patches) -> list[Assumption]:
    """A note on how a position table trained at another image size is interpolated."""
    if cut.pretrained is None or cut.pretrained == cut.image:
        return []
    old, new = grid(cut.pretrained, cut.patch), cut.grid
    in_front = "the class token's row is kept" if cut.tokens == 1 else f"the {cut.tokens} rows before them are kept"
    text = (
        f"position table of {cut.positions:,} rows: of weights trained on {times(*cut.pretrained)} images, the "
        f"{times(*old)} = {old[0] * old[1]:,} patch rows are interpolated to {times(*new)} = {cut.number:,}"
        f"{f'; {in_front}' if cut.tokens else ''}"
    )
    return [Assumption(Topic.ARCHITECTURE, text, cut.positions)]


ENCODING = Learned
