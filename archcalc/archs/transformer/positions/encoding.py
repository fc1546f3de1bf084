"""What every position encoding is: fields as a spec writes them, what it needs of a model, and where it acts.

A kind of encoding is a class of its own, which overrides what is not so with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar, NamedTuple, Self

from archcalc.archs.transformer.context import Context
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Dim, Module, Tensor
from archcalc.layers.attention import Heads, looked_at
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.patches import Patches
from archcalc.spec.node import Node, Size, field

Places = Callable[..., list[Path]]  # where fields of an attention may be written, by their names
RELATIVE = "relative positions"


class Site(NamedTuple):
    """What encodings are resolved for, an image if the stack reads one, and where they may be written."""

    d_model: int
    patches: Patches | None
    places: list[Path]
    of_stack: list[Path]  # the places of the stack's own
    causal: bool = False


class Reader(NamedTuple):
    """An attention that reads positions, while it runs."""

    layer: Heads
    x: Tensor
    context: Context
    dropout: float
    patches: Patches | None = None  # of the image that the stack reads
    prepared: Tensor | None = None  # what the encoding prepared once for all blocks

    @property
    def past(self) -> Dim:
        """The positions of keys."""
        return looked_at(self.x, self.x, self.context.work, self.layer.sight)


class Encoding(Node):
    """The base of all: does nothing, and goes with every model."""

    on_embedding: ClassVar[bool] = False  # it is added there; all others act in attention
    on_scores: ClassVar[bool] = False  # it adds something to attention's scores
    needs: ClassVar[dict[str, int]] = {}  # the fields that it is refused without, each with an example
    kind: str
    length: Size | None = field(
        None,
        "The longest sequence; a learned table has that many rows.",
        example=1024,
        unset="no limit; learned positions need it",
    )

    @property
    def is_of_stack(self) -> bool:
        """Whether it is one table for the whole stack, shared by every attention in it."""
        return False

    def goes_with(self, other: Encoding) -> bool:
        """Whether both may act at one place."""
        return False

    def on_image(self, patches: Patches, site: Site) -> Self:
        """With what follows from the image that the stack reads."""
        return self

    def with_rows(self, patches: Patches, at: list[Path]) -> Self:
        """A table of an image's positions, which has a row for each of them."""
        if self.length not in (None, patches.positions):
            fact = f"a table of {self.length} positions, but the image has {patches.positions}"
            hint = f"leave length out: it follows from the image, {patches.described}"
            raise InputError(fact, hint, fields=[(*place, "length") for place in at])
        return self.model_copy(update={"length": self.length or Derived(patches.positions)})

    def check(self, site: Site) -> None:
        """Refuse it without the fields that it needs."""
        for name, example in self.needs.items():
            self.check_given(name, example, site)

    def check_given(self, name: str, example: int, site: Site) -> None:
        if getattr(self, name) is None:
            hint = f"write `position: {{kind: {self.kind}, {name}: {example}}}`"
            raise InputError(f"{self.kind} positions need {name}", hint, fields=site.places)

    def check_pairs(self, site: Site) -> None:
        """Of what is computed as sines and cosines."""
        d_model = site.d_model
        if d_model % 2:
            fact = f"{self.kind} positions are pairs of a sine and a cosine, and d_model {d_model} is odd"
            raise InputError(fact, f"use d_model {d_model - 1} or {d_model + 1}", fields=site.places)

    def check_layer(self, layer: Heads, at: Places) -> None:
        """Refuse an attention that it cannot act in."""

    def table(self, layer: Heads) -> Hashable:
        """What a table of the stack depends on, which must be equal in all attentions that share it."""
        return self

    def check_one_table(self, layers: list[Heads], at: list[Path]) -> None:
        """Refuse attentions that cannot share the table of their stack."""

    def made_small(self) -> Self:
        """The same in a small model."""
        return self

    def add_to(self, m: Module, x: Tensor, patches: Patches | None) -> Tensor:
        """The embedding with positions, in its module, where it is added there."""
        raise NotImplementedError

    def prepare(self, stack: Module, reader: Reader) -> Tensor | None:
        """What is computed once for all blocks, of an encoding of the stack."""
        return None

    def given_to(self, reader: Reader, inputs: Inputs) -> Inputs:
        """What attention is given, with what this encoding gives it."""
        return inputs


class Stored(Encoding):
    """What is computed, or stored as a table."""

    stored: bool = field(
        False,
        "Sinusoids, or the angles of RoPE, are stored as a parameter that is not trained.",
        example=True,
        beside={"length": 1024},
    )

    def check(self, site: Site) -> None:
        if self.stored and self.length is None:
            hint = f"write `position: {{kind: {self.kind}, length: 1024, stored: true}}`"
            raise InputError(f"stored {self.kind} positions need length", hint, fields=site.places)


class Bucketed(Encoding):
    """What tells distances apart in buckets."""

    buckets: Size | None = field(
        None,
        "How many distances relative positions tell apart; disentangled ones have as many to each side.",
        example=32,
        unset="needed by relative positions, unless they are of an image's patches",
    )
