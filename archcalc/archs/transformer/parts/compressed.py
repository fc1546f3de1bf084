"""Attention of kind `compressed`: a window of positions, and entries that stand for those behind it."""

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
from archcalc.layers.compressed import CompressedAttention, Entries, EntryIndexer

if TYPE_CHECKING:
    from archcalc.archs.transformer.parts.attention_fields import Attention, Compress


@dataclass(frozen=True)
class CompressedPart(Part):
    spec_kind: ClassVar[str] = "compressed"
    layer: CompressedAttention
    rope: Rope | None
    rotated: int

    @property
    def unwitnessed(self) -> str:
        return "compressed attention"

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        sight = self.layer.sight
        called = CALLED[sight.causal]
        m.words.called = called if m.name == self.slot else f"{m.words.title}: {called}"
        m.words.about = sight.about
        inputs = Inputs(context.work, mask=context.mask(x, sight))
        if self.rope:
            inputs = inputs._replace(rotation=self.rope.rotation(x, self.rotated, context))
        return self.layer.run(m, x, inputs)


def resolve(word: str, slot: str, node: Attention, around: Surroundings) -> CompressedPart:
    scope = around.scope
    around.check_causal("compressed attention")
    if slot == "cross":
        fact = "compressed attention is self-attention, not cross-attention"
        raise InputError(fact, "use kind attention", fields=around.places(word))
    if node.bias:
        raise InputError("compressed attention has no biases", "leave bias out", fields=around.places(word, "bias"))

    def needed(field: str, meaning: str) -> int:
        value: int | None = getattr(node, field)
        return around.needed(value, field, meaning, word)

    heads = around.needed(node.heads or scope.heads, "heads", "the number of attention heads, such as `heads: 64`")
    width = node.head_dim or scope.head_dim or around.d_model // heads
    rope = _rope(node, word, around)
    groups = needed("out_groups", "how many groups of heads are projected apart, such as `out_groups: 8`")
    around.check_divides(heads * width, "the width of all heads", groups, word, "out_groups")
    layer = CompressedAttention(
        heads=heads,
        head_dim=width,
        q_rank=needed("q_rank", "the width that queries are projected down to, such as `q_rank: 1024`"),
        groups=groups,
        out_rank=needed("out_rank", "the width of a group's output, such as `out_rank: 1024`"),
        sight=Sight(causal=True, window=needed("window", "the positions looked at, such as `window: 128`")),
        weights_dropout=own_or(node.dropout, scope.dropout),
        entries=_entries(node.compress, width, word, around),
        indexer=_indexer(node.compress, word, around),
        softmax=scope.softmax,
    )
    return CompressedPart(
        name=word,
        norm=around.norm,
        dropout=scope.dropout,
        layer_scale=scope.layer_scale,
        slot=slot,
        layer=layer,
        rope=rope,
        rotated=needed("rope_dim", "the width of a head that is rotated, such as `rope_dim: 64`") if rope else 0,
    )


def _rope(node: Attention, word: str, around: Surroundings) -> Rope | None:
    found = positions.resolved(around, node.position, word)
    if any(not isinstance(encoding, Rope) or encoding.stored for encoding in found):
        fact = "compressed attention has RoPE alone, and computes its rotations"
        raise InputError(fact, "write `position: rope` or none", fields=around.places(word, "position"))
    return next((encoding for encoding in found if isinstance(encoding, Rope)), None)


def _entries(said: Compress | None, width: int, word: str, around: Surroundings) -> Entries | None:
    if said is None:
        return None
    rate = around.needed(said.rate, "compress.rate", "how many positions make an entry, such as `rate: 128`", word)
    return Entries(rate, width, said.overlap)


def _indexer(said: Compress | None, word: str, around: Surroundings) -> EntryIndexer | None:
    if said is None or said.index is None:
        return None
    index, entries = said.index, _entries(said, 1, word, around)
    assert entries
    width = around.needed(index.head_dim, "compress.index.head_dim", "the width of its heads", word)
    heads = around.needed(index.heads, "compress.index.heads", "the number of its heads", word)
    top = around.needed(index.top, "compress.index.top", "how many entries it selects", word)
    return EntryIndexer(Entries(entries.rate, width, entries.overlap), heads, top)
