"""Transformer blocks on a sequence: `{transformer: 6, heads: 8, ffn: 2048}`; with `memory` also cross-attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace
from archcalc.archs.network.memory import (
    Memory,
    around,
    context_of,
    grid_of,
    memory_field,
    memory_width,
    need_sequence,
    told_at,
)
from archcalc.archs.transformer.build import run_blocks
from archcalc.archs.transformer.nodes import Fraction, Norm
from archcalc.archs.transformer.parts import SLOTS
from archcalc.archs.transformer.pattern import USUAL
from archcalc.archs.transformer.positions import Positions
from archcalc.archs.transformer.resolve import ResolvedStack, stack_of
from archcalc.archs.transformer.spec import Stack
from archcalc.core.ir import Module, Tensor
from archcalc.spec.node import Node, Size, field

WORDS = ("transformer",)
READS = (SEQUENCES,)


class TransformerFields(Node):
    main: ClassVar[str] = "blocks"
    blocks: Size = field(..., "How many blocks follow each other.", example=6)
    heads: Size = field(..., "How many heads attention has.", example=8)
    ffn: Annotated[Any, SLOTS["ffn"]] = field(..., "The feed-forward layer of a block.", example={"width": 2048})
    norm: Norm = field(
        Norm.model_construct(), "The norms of the blocks, and whether one stands behind the last.", example="rms"
    )
    causal: bool = field(False, "A position sees itself and those before it.", example=True)
    memory: Memory = memory_field()
    kv_heads: Size | None = field(
        None, "Heads that have keys and values of their own.", example=2, unset="heads: each has its own"
    )
    head_dim: Size | None = field(None, "The width of one head.", example=64, unset="features / heads")
    bias: bool = field(True, "The linear layers of attention and FFN have biases.", example=False)
    position: Positions = field((), "The position encoding that acts in attention.", example="rope")
    attention: Annotated[Any, SLOTS["attention"]] = field(
        None, "Self-attention, where more is to be said of it than its heads.", example={"window": 16}
    )
    parallel: Literal["shared", "separate"] | None = field(
        None,
        "The parts of a block stand side by side: with one norm for all (`shared`) or one each (`separate`).",
        example="shared",
        unset="one after the other",
    )
    layer_scale: bool = field(False, "A learned vector scales the output of every part.", example=True)
    dropout: Fraction = field(0.0, "The probability of dropout in training.", example=0.1)


@dataclass(frozen=True)
class Blocks:
    """`memory` is the earlier layer that cross-attention looks at, and how wide that is."""

    spec_kind: ClassVar[str] = "transformer_layer"
    stack: ResolvedStack
    memory: str | None
    memory_width: int | None

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        x = trace.in_order(m, x)
        return run_blocks(m, x, context_of(m, x, trace, self.memory), self.stack)


FIELDS = TransformerFields


def read(word: str, fields: TransformerFields, shape: Shape, place: Place) -> tuple[Blocks, Shape]:
    need_sequence(word, shape, place)
    width = memory_width(fields.memory, shape, place)
    given: dict[str, Any] = {name: getattr(fields, name) for name in fields.model_fields_set - {"causal", "memory"}}
    given |= {"d_model": shape.channels, "pattern": [USUAL[bool(width)]]}
    scope = Stack.model_construct(_fields_set=set(given), **given)
    grid = grid_of(fields.position, shape, place)
    with told_at(place):
        stack = stack_of(around(scope, shape, grid, has_memory=bool(width), causal=fields.causal))
    return Blocks(stack, fields.memory, width), shape
