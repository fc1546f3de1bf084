"""Attention of kind `mla`: multi-head latent attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from archcalc.archs.transformer import positions
from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.part import Part, Surroundings, own_or
from archcalc.archs.transformer.positions.rope import Rope
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.attention_mask import CALLED, Sight
from archcalc.layers.indexer import Indexer
from archcalc.layers.mla import LatentAttention, Widths

if TYPE_CHECKING:
    from archcalc.archs.transformer.parts.attention_fields import Attention


@dataclass(frozen=True)
class LatentPart(Part):
    spec_kind: ClassVar[str] = "mla"
    layer: LatentAttention
    rope: Rope | None

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        sight = self.layer.sight
        called = CALLED[sight.causal]
        m.words.called = called if m.name == self.slot else f"{m.words.title}: {called}"
        m.words.about = sight.about
        inputs = Inputs(context.work, mask=context.mask(x, sight))
        if self.rope:
            inputs = inputs._replace(rotation=self.rope.rotation(x, self.layer.widths.rope, context))
        return self.layer.run(m, x, inputs)


def resolve(word: str, slot: str, node: Attention, around: Surroundings) -> LatentPart:
    scope, places = around.scope, around.places(word, "position")
    if slot == "cross":
        raise InputError(
            "latent attention is self-attention, not cross-attention", "use kind attention", fields=around.places(word)
        )
    rope = None
    for encoding in positions.resolved(around, node.position, word):
        if not isinstance(encoding, Rope):
            fact = f"latent attention has no {encoding.kind} positions"
            raise InputError(fact, "rope acts on rope_dim of its keys", fields=places)
        if encoding.stored:
            fact = "latent attention computes its rotations, and stores no table of them"
            raise InputError(fact, "leave stored out", fields=places)
        rope = encoding
    heads = around.needed(node.heads or scope.heads, "heads", "the number of attention heads, such as `heads: 8`")
    layer = LatentAttention(
        widths=_widths(word, heads, node, around),
        bias=_bias(word, node, around),
        norm="rms",
        sight=Sight(around.causal),
        weights_dropout=own_or(node.dropout, scope.dropout),
        indexer=_indexer(word, node, around),
        gate=_gate(word, node, around),
        softmax=scope.softmax,
    )
    return LatentPart(
        name=word,
        norm=around.norm,
        dropout=scope.dropout,
        layer_scale=scope.layer_scale,
        slot=slot,
        layer=layer,
        rope=rope,
    )


def _gate(word: str, node: Attention, around: Surroundings) -> str:
    if node.gate is True:
        hint = "use `gate: own` or `gate: head`"
        raise InputError(
            "latent attention has no gate in its query projection", hint, fields=around.places(word, "gate")
        )
    return node.gate or ""


def _indexer(word: str, node: Attention, around: Surroundings) -> Indexer | None:
    """An indexer takes the low-rank queries, so q_rank must be set."""
    index = node.index
    if not index:
        return None
    if index.head_dim and node.rope_dim and index.head_dim < node.rope_dim:
        fact = f"an indexer's heads are {index.head_dim} wide, and {node.rope_dim} of that are rotated"
        raise InputError(fact, "make index.head_dim at least rope_dim", fields=around.places(word, "index", "head_dim"))
    around.needed(
        node.q_rank, "q_rank", "an indexer takes the low-rank queries: set q_rank, such as `q_rank: 1536`", word
    )
    return Indexer(
        around.needed(index.heads, "index.heads", "the number of its heads, such as `heads: 64`", word),
        around.needed(index.head_dim, "index.head_dim", "the width of each, such as `head_dim: 128`", word),
        around.needed(index.top, "index.top", "how many positions it selects, such as `top: 2048`", word),
    )


def _widths(word: str, heads: int, node: Attention, around: Surroundings) -> Widths:
    def needed(field: str, meaning: str) -> int:
        value: int | None = getattr(node, field)
        return around.needed(value, field, meaning, word)

    rope = needed("rope_dim", "the width of the rotated key, such as `rope_dim: 64`")
    if rope % 2:
        fact = f"RoPE rotates pairs of numbers, but rope_dim is {rope}"
        raise InputError(fact, f"use {rope + 1}", fields=around.places(word, "rope_dim"))
    return Widths(
        heads=heads,
        q_rank=node.q_rank,
        kv_rank=needed("kv_rank", "the width that is cached, such as `kv_rank: 512`"),
        nope=needed("nope_dim", "the width of a head's keys without position, such as `nope_dim: 128`"),
        rope=rope,
        value=needed("v_dim", "the width of a head's values, such as `v_dim: 128`"),
    )


def _bias(word: str, node: Attention, around: Surroundings) -> bool:
    bias = own_or(node.bias, around.scope.bias)
    if not isinstance(bias, bool):
        hint = "latent attention has it on the down-projections and the output: write true or false"
        raise InputError(
            "attention.bias of latent attention is true or false", hint, fields=around.places(word, "bias")
        )
    return bias
