"""The part `per_layer`: adds a vector for each token that every block has of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import Part, Surroundings
from archcalc.archs.transformer.pattern import blocks_with
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.per_layer import PerLayer as Vectors
from archcalc.spec.node import Node, Size, field


class PerLayer(Node):
    main: ClassVar[str] = "width"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("width",)}
    width: Size | None = field(None, "The width of a block's vector.", example=256, unset="needed")
    vocab: Size | None = field(
        None,
        "How many tokens have such vectors; any others have the first one's.",
        example=262_144,
        unset="vocab of the model",
    )
    act: Activation = field("gelu", "The activation of the gate.", example="gelu_tanh")
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


@dataclass(frozen=True)
class PerLayerPart(Part):
    spec_kind: ClassVar[str] = "per_layer"
    is_embedding: ClassVar[bool] = True
    layer: Vectors

    @property
    def is_bound(self) -> bool:
        return True

    def prepare(self, place: Module, x: Tensor, context: Context) -> Tensor | None:
        """The vectors of all blocks that have this part, from the tokens and their embeddings."""
        assert context.ids
        return self.layer.prepare(place, context.ids, x, blocks_with(self.name, context.items))

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        vectors = context.prepared[self.name]
        assert vectors
        return self.layer.run(m, x, vectors)


def resolve(word: str, slot: str, node: PerLayer, around: Surroundings) -> PerLayerPart:
    if around.scope.embedding.kind != "tokens":
        fact = "vectors for each token, in a stack that reads no tokens"
        raise InputError(fact, f"leave {word} out", fields=around.places("pattern"))
    width = around.needed(node.width, "width", "the width of a block's vector, such as `width: 256`", word)
    vocab = node.vocab or Derived(around.scope.vocab or width)
    layer = Vectors(width, vocab, node.act, around.norm.kind, fewer=vocab < (around.scope.vocab or 0))
    scope = around.scope
    return PerLayerPart(word, around.norm, scope.dropout, layer, layer_scale=scope.layer_scale, slot=slot)
