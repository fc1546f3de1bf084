"""Token embeddings, a learned row of a table for each id: `{embedding: 100, vocab: 20000}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.network.layer import IDS, Place, Shape, Trace
from archcalc.core.ir import Module, ModuleGroup, Tensor
from archcalc.layers.dims import vocab_of
from archcalc.layers.embedding import look_up, token_table
from archcalc.spec.node import Node, Size, field

WORDS = ("embedding",)
READS = (IDS,)


class EmbeddingFields(Node):
    main: ClassVar[str] = "width"
    width: Size = field(..., "Features of each token.", example=100)
    vocab: Size = field(..., "Rows of the table: how many different tokens there are.", example=20000)


@dataclass(frozen=True)
class Embedding:
    spec_kind: ClassVar[str] = "embedding"
    of_each_position: ClassVar[bool] = True
    vocab: int
    out: int

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        m.group = ModuleGroup.EMBEDDING
        return look_up(m, x, token_table(m, vocab_of(self.vocab), trace.channels(self.out, 0)))


FIELDS = EmbeddingFields


def read(word: str, fields: EmbeddingFields, shape: Shape, place: Place) -> tuple[Embedding, Shape]:
    if not shape.is_ids:
        hint = "write `input: tokens`, or take the embedding out"
        raise place.wrong(f"an embedding reads ids of tokens, and {shape} comes in", hint, word)
    return Embedding(fields.vocab, fields.width), Shape.sequence(shape.sides[0], fields.width)
