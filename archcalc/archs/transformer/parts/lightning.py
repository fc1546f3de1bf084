"""The part `lightning`: linear attention with a fixed decay rate for each head."""

from __future__ import annotations

from typing import ClassVar

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import Surroundings
from archcalc.layers.lightning import Lightning as Layer
from archcalc.spec.node import Node, Size, field


class Lightning(Node):
    main: ClassVar[str] = "heads"
    heads: Size | None = field(None, "How many heads it has.", example=64, unset="heads of the model")
    head_dim: Size | None = field(
        None, "The width of one head.", example=128, unset="head_dim of the model, or d_model / heads"
    )
    act: Activation = field("silu", "The activation of queries, keys and values.", example="gelu")
    chunk: Size = field(256, "Positions that are computed at once.", example=128)
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


def resolve(word: str, slot: str, node: Lightning, around: Surroundings) -> Layer:
    around.check_causal("lightning attention")
    heads = around.needed(node.heads or around.scope.heads, "heads", "the number of heads, such as `heads: 8`", word)
    head_dim = node.head_dim or around.scope.head_dim
    if head_dim is None:
        around.check_divides(around.d_model, "d_model", heads, word, "heads")
    return Layer(heads, head_dim or around.d_model // heads, node.act, node.chunk)
