"""Per-layer embeddings: every block gets a narrow vector of its own for each token, and adds what it makes of it.

A second table has a row for each token, with a piece for each block. To that is added a projection of the token's
embedding, normed piece by piece. A block gates its piece by the residual stream, and projects it back to d_model.
Source: transformers, Gemma4TextModel.get_per_layer_inputs and project_per_layer_inputs, Gemma4TextDecoderLayer.forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.dims import vocab_of
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.styles.activations import activated


@dataclass(frozen=True)
class PerLayer:
    spec_kind: ClassVar[str] = "per_layer"
    width: int
    vocab: int
    act: str
    norm: str  # of the projection
    fewer: bool = False  # rows than there are tokens: the others have the first one's

    def prepare(self, m: Module, ids: Tensor, x: Tensor, blocks: int) -> Tensor:
        """The vectors of all blocks: (batch, positions, blocks, width)."""
        batch, seq, _ = x.dims
        if ids.dims != (batch, seq):  # positions that are no tokens have a token that stands for them
            ids = m.record("ids", to=axes(batch, seq), name="ids")
        block, width = Dim.of("blocks", blocks), Dim.of("per_layer", self.width)
        if self.fewer:
            ids = m.record("where", ids, role="index")
        table = m.param("weight", vocab_of(self.vocab), (block, width), role=Role.TOKEN_TABLE)
        found = m.record("lookup", ids, table, to=axes(batch, seq, (block, width)), select=table.axes[0])
        made = m.record("scale", linear(m["projection"], x, (block, width), bias=False))
        made = norm(m["norm"], made.seen_as(batch, seq, block, width), self.norm)
        added = m.record("add", made, found.seen_as(batch, seq, block, width))
        return m.record("scale", added, name="per_layer")

    def run(self, m: Module, x: Tensor, vectors: Tensor) -> Tensor:
        """What a block adds, of the vectors of all blocks."""
        batch, seq, d_model = x.dims
        width = vectors.dims[-1]
        gate = activated(m, linear(m["gate"], x, width, bias=False), self.act)
        own = vectors.seen_as(batch, seq, width)
        return linear(m["out"], m.record("multiply", gate, own), d_model, bias=False)
