"""Attention on a sequence: `{attention: 8}` to itself, `{attention: 8, memory: encoded}` to an earlier layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
from archcalc.archs.transformer.nodes import Fraction
from archcalc.archs.transformer.parts import attention
from archcalc.archs.transformer.parts.attention_fields import AttentionBias, QKNormSaid
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.positions import Positions
from archcalc.archs.transformer.spec import Stack
from archcalc.core.ir import Module, Tensor
from archcalc.spec.node import Node, Size, field

WORDS = ("attention",)
READS = (SEQUENCES,)


class AttentionFields(Node):
    main: ClassVar[str] = "heads"
    heads: Size = field(..., "How many heads it has.", example=8)
    kv_heads: Size | None = field(
        None, "Heads that have keys and values of their own.", example=2, unset="heads: each has its own"
    )
    head_dim: Size | None = field(None, "The width of one head.", example=64, unset="features / heads")
    bias: AttentionBias = field(
        True, "Its projections have biases: true, false, or a list of those that do.", example=["q", "k", "v"]
    )
    causal: bool = field(False, "A position sees itself and those before it.", example=True)
    window: Size | None = field(
        None, "How many positions are attended to, the own one included.", example=16, unset="all positions"
    )
    memory: Memory = memory_field()
    position: Positions = field((), "The position encoding that acts in it.", example="rope")
    qk_norm: QKNormSaid | None = field(None, "Norms on queries and keys.", example="head", unset="none")
    dropout: Fraction = field(0.0, "The probability of dropout on the attention weights.", example=0.1)


@dataclass(frozen=True)
class NetworkAttention:
    """`memory` is the earlier layer that it looks at, if it is not what comes in, and how wide that is."""

    spec_kind: ClassVar[str] = "attention_layer"
    part: AttentionPart
    width: int
    memory: str | None
    memory_width: int | None

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        x = trace.in_order(m, x)
        context = context_of(m, x, trace, self.memory)
        context.prepared[self.part.name] = self.part.prepare(m, x, context)
        return self.part.run(m, x, context)


FIELDS = AttentionFields


def read(word: str, fields: AttentionFields, shape: Shape, place: Place) -> tuple[NetworkAttention, Shape]:
    need_sequence(word, shape, place)
    width = memory_width(fields.memory, shape, place)
    if width and fields.causal:
        raise place.wrong("cross-attention sees all of its memory", "take causal out", "causal")
    given: dict[str, Any] = {name: getattr(fields, name) for name in fields.model_fields_set - {"causal", "memory"}}
    node = attention.Attention.model_construct(_fields_set=set(given), **given)
    grid = grid_of(fields.position, shape, place)
    with told_at(place):
        slot = "cross" if width else "attention"
        inherited = around(Stack(), shape, grid, has_memory=bool(width), causal=fields.causal)
        part = attention.resolve(slot, slot, node, inherited)
    assert isinstance(part, AttentionPart)
    return NetworkAttention(part, shape.channels, fields.memory, width), shape
