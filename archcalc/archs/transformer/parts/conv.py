"""The part `conv`: a convolution along the sequence, with an activation, or between two gates."""

from __future__ import annotations

from typing import ClassVar, Literal

from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import Surroundings
from archcalc.core.errors import InputError
from archcalc.layers.conv import Convolution, GatedConv
from archcalc.spec.node import Node, Size, field


class Conv(Node):
    main: ClassVar[str] = "kernel"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "plain": frozenset({"kernel", "groups", "act", "norm"}),
        "gated": frozenset({"kernel", "bias", "norm"}),
    }
    kind: Literal["plain", "gated"] = field(
        "plain",
        "A convolution with an activation, in encoders, or a gated causal one (LFM2), in decoders.",
        example="gated",
    )
    kernel: Size = field(3, "Positions that the convolution sees.", example=5)
    groups: Size = field(1, "Groups of channels that are convolved separately.", example=16)
    act: Activation = field("gelu", "The activation of a plain convolution.", example="relu")
    bias: bool = field(False, "Gated: projections and convolution have biases.", example=True)
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


def resolve(word: str, slot: str, node: Conv, around: Surroundings) -> Convolution | GatedConv:
    node.check_kind(node.kind, *around.places(word))
    if node.kind == "gated":
        around.check_causal("a gated convolution")
        return GatedConv(node.kernel, node.bias)
    if around.causal:
        hint = "put it into an encoder"
        raise InputError("this convolution is not causal", hint, fields=around.places("pattern"))
    if node.kernel % 2 == 0:
        fact = f"a kernel of {node.kernel} has no centre: the convolution reaches as far ahead as back"
        raise InputError(fact, f"use {node.kernel - 1} or {node.kernel + 1}", fields=around.places(word, "kernel"))
    around.check_divides(around.d_model, "d_model", node.groups, word, "groups")
    return Convolution(node.kernel, node.groups, node.act)
