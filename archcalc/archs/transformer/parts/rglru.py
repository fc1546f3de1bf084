"""The part `rglru`: Griffin's recurrent block."""

from __future__ import annotations

from typing import ClassVar

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import LayerPart, Surroundings
from archcalc.layers.rglru import RecurrentUnit
from archcalc.spec.node import Node, Size


class Rglru(Node):
    main: ClassVar[str] = "width"
    width: Size | None = None  # d_model, unless it is said
    heads: Size | None = None  # blocks of channels that a gate mixes; attention's heads have nothing to do with them
    conv: Size = 4
    act: Activation = "gelu"
    norm: Norm | None = None


def resolve(word: str, slot: str, node: Rglru, around: Surroundings) -> LayerPart:
    around.check_causal("a recurrent unit")
    width = node.width or around.d_model
    heads = around.needed(node.heads, "heads", "how many blocks of channels, such as `heads: 10`", word)
    around.check_divides(width, "width", heads, word, "heads")
    layer = RecurrentUnit(width, heads, node.conv, node.act)
    return around.layer_part(word, layer, node.norm)
