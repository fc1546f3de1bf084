"""The part `rglru`: Griffin's recurrent block."""

from __future__ import annotations

from typing import ClassVar

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import Surroundings
from archcalc.core.derived import Derived
from archcalc.layers.rglru import RecurrentUnit
from archcalc.spec.node import Node, Size, field


class Rglru(Node):
    main: ClassVar[str] = "width"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("heads",)}
    width: Size | None = field(None, "The width of the recurrent unit.", example=2560, unset="d_model")
    heads: Size | None = field(
        None, "Blocks of the gates' matrices, which are block-diagonal.", example=8, unset="needed"
    )
    conv: Size = field(4, "The kernel of the convolution in front.", example=4)
    act: Activation = field("gelu", "The activation of the other branch.", example="silu")
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


def resolve(word: str, slot: str, node: Rglru, around: Surroundings) -> RecurrentUnit:
    around.check_causal("a recurrent unit")
    width = node.width or Derived(around.d_model)
    heads = around.needed(node.heads, "heads", "how many blocks of channels, such as `heads: 10`", word)
    around.check_divides(width, "width", heads, word, "heads")
    return RecurrentUnit(width, heads, node.conv, node.act)
