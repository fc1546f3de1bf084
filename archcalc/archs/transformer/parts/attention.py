"""The part `attention`, and `cross`, which looks at the encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm, Position, Positions
from archcalc.archs.transformer.parts.part import Context, Part, Surroundings
from archcalc.errors import InputError
from archcalc.ir import Module, Tensor
from archcalc.layers.attention import Change, attention
from archcalc.layers.embedding import relative_bias
from archcalc.spec import Node, Size, mistake


def _bias(value: Any) -> Any:
    letters = ("q", "k", "v", "o")
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and value and all(item in letters for item in value):
        return tuple(value)
    raise mistake("expected true, false or a list of q, k, v, o")


_LETTERS = {"type": "array", "items": {"enum": ["q", "k", "v", "o"]}}
AttentionBias = Annotated[Any, BeforeValidator(_bias), WithJsonSchema({"anyOf": [{"type": "boolean"}, _LETTERS]})]


class Attention(Node):
    main: ClassVar[str] = "heads"
    heads: Size | None = None
    kv_heads: Size | None = None
    head_dim: Size | None = None
    bias: AttentionBias | None = None
    position: Positions | None = None
    norm: Norm | None = None


@dataclass(frozen=True)
class AttentionPart(Part):
    heads: int
    kv_heads: int
    head_dim: int
    bias: frozenset[str]  # of q k v o
    positions: tuple[Position, ...]
    cross: bool
    causal: bool

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return attention(
            m,
            x,
            context.memory if self.cross and context.memory is not None else x,
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_dim=self.head_dim,
            bias=self.bias,
            rotate=self.position("rope") is not None,
            add_bias=self._score_bias(x, context),
            dropout=self.dropout,
        )

    def position(self, kind: str) -> Position | None:
        return next((position for position in self.positions if position.kind == kind), None)

    def prepare(self, stack: Module, x: Tensor) -> Tensor | None:
        """T5 keeps one relative table for the whole stack."""
        relative = self.position("relative")
        return self._relative_bias(stack, x) if relative and relative.per == "stack" else None

    def _score_bias(self, x: Tensor, context: Context) -> Change | None:
        """What position encodings add to the scores: nothing learned for ALiBi, a table for relative positions."""
        if self.position("alibi"):
            return lambda m, scores: m.record("add", scores)
        if not self.position("relative"):
            return None
        prepared = context.prepared.get(self.name)
        return lambda m, scores: m.record("add", scores, prepared or self._relative_bias(m, x))

    def _relative_bias(self, m: Module, x: Tensor) -> Tensor:
        relative = self.position("relative")
        assert relative and relative.buckets
        return relative_bias(m["position"], self.heads, relative.buckets, x.dims[1])


def resolve(word: str, slot: str, said: Attention, around: Surroundings) -> AttentionPart:
    cross = slot == "cross"
    if cross and not around.has_memory:
        hint = "add `encoder: 6`, or leave cross out"
        raise InputError("cross-attention needs an encoder", hint, fields=around.places("pattern"))
    scope = around.scope
    heads = around.needed(said.heads or scope.heads, "heads", "the number of attention heads, such as `heads: 8`")
    return AttentionPart(
        name=word,
        norm=around.norm(said.norm),
        dropout=scope.dropout,
        heads=heads,
        kv_heads=_kv_heads(word, heads, said.kv_heads or scope.kv_heads or heads, around),
        head_dim=said.head_dim or scope.head_dim or _head_dim(word, heads, around),
        bias=_biased(said.bias if said.bias is not None else scope.bias),
        positions=() if cross else around.positions(said.position),
        cross=cross,
        causal=around.causal and not cross,
    )


def _kv_heads(word: str, heads: int, kv_heads: int, around: Surroundings) -> int:
    if heads % kv_heads:
        divisors = [str(n) for n in range(1, min(heads, 1024) + 1) if heads % n == 0]
        hint = f"use a divisor of heads: {', '.join(divisors)}"
        fact = f"kv_heads {kv_heads} does not divide heads {heads}"
        raise InputError(fact, hint, fields=around.places(word, "kv_heads"))
    return kv_heads


def _head_dim(word: str, heads: int, around: Surroundings) -> int:
    if around.d_model % heads:
        fact = f"d_model {around.d_model} does not divide into {heads} heads"
        hint = "change heads, or give head_dim, which is free of both"
        raise InputError(fact, hint, fields=[*around.places(word, "heads"), *around.places("d_model")])
    return around.d_model // heads


def _biased(bias: bool | tuple[str, ...]) -> frozenset[str]:
    return frozenset("qkvo" if bias is True else bias or ())
