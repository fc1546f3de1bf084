"""The part `delta`: Gated DeltaNet, or Kimi Delta Attention (`kda`) with a decay per channel."""

from __future__ import annotations

from typing import ClassVar, Literal

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.part import LayerPart, Surroundings
from archcalc.layers import delta
from archcalc.layers.kda import KimiDelta
from archcalc.spec.node import Node, Size


class Delta(Node):
    main: ClassVar[str] = "heads"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "gated": frozenset({"heads", "v_heads", "head_dim", "v_dim", "conv", "chunk", "norm"}),
        "kda": frozenset({"heads", "head_dim", "conv", "chunk", "norm", "squeeze"}),
    }
    kind: Literal["gated", "kda"] = "gated"
    heads: Size | None = None  # of queries and keys; attention's heads have nothing to do with them
    v_heads: Size | None = None
    head_dim: Size | None = None
    v_dim: Size | None = None
    conv: Size = 4
    squeeze: bool = True  # kda: decays and gate by way of a vector as wide as one head
    chunk: Size = 64  # positions that are computed at once
    norm: Norm | None = None


def resolve(word: str, slot: str, node: Delta, around: Surroundings) -> LayerPart:
    node.check_kind(node.kind, *around.places(word))
    around.check_causal("a delta net")
    heads = around.needed(node.heads, "heads", "the heads of queries and keys, such as `heads: 16`", word)
    head_dim = around.needed(node.head_dim, "head_dim", "the width of a key, such as `head_dim: 128`", word)
    v_heads = node.v_heads or heads
    around.check_divides(v_heads, "v_heads", heads, word, "heads")
    sizes = heads, v_heads, head_dim, node.v_dim or head_dim, node.conv, node.chunk
    layer = delta.Delta(*sizes) if node.kind == "gated" else KimiDelta(*sizes, squeeze=node.squeeze)
    return around.layer_part(word, layer, node.norm)
