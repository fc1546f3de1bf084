"""The part `moe`: a mixture of experts."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm, flag_or
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import LayerPart, Surroundings, own_or
from archcalc.core.errors import InputError
from archcalc.layers.ffn import Ffn
from archcalc.layers.moe import Mixture
from archcalc.spec.node import Node, Size, as_size

_CORRECTION_SCHEMA = {"enum": [True, False, "frozen"]}
_CORRECTIONS = {"frozen": "parameter", True: "buffer", False: ""}
Correction = Annotated[Any, BeforeValidator(flag_or("frozen")), WithJsonSchema(_CORRECTION_SCHEMA)]


def _width(value: Any) -> int:
    return 0 if value == 0 and not isinstance(value, bool) else as_size(value)


SizeOrNone = Annotated[int, BeforeValidator(_width), WithJsonSchema({"type": "integer", "minimum": 0})]


class Shared(Node):
    """The shared expert; missing fields are inherited from the routed experts."""

    main: ClassVar[str] = "width"
    width: SizeOrNone | None = None  # 0: there is none, though its gate and its bias are
    act: Activation | None = None
    gated: bool | None = None
    bias: bool | None = None


class Moe(Node):
    main: ClassVar[str] = "experts"
    experts: Size | None = None
    top: Size | None = None
    width: Size | None = None
    act: Activation = "silu"
    gated: bool = True
    bias: bool = False
    router_bias: bool = False
    correction: Correction = False  # one number for each expert, which balances the choice without gradients: a
    # buffer, or a frozen parameter
    shared: Shared | None = None
    shared_gate: bool = False  # a sigmoid on what the shared expert gives
    latent: Size | None = None  # the width that experts work at, projected to and from
    latent_bias: bool = False
    out_bias: bool = False  # on the answer of all experts together
    norm: Norm | None = None


def resolve(word: str, slot: str, node: Moe, around: Surroundings) -> LayerPart:
    experts = around.needed(node.experts, "experts", "how many there are, such as `experts: 8`", word)
    top = around.needed(node.top, "top", "how many of them a token is routed to, such as `top: 2`", word)
    width = around.needed(node.width, "width", "the inner width of an expert, such as `width: 1024`", word)
    if top > experts:
        hint = f"use {experts} or fewer"
        raise InputError(
            f"a token cannot be routed to {top} of {experts} experts", hint, fields=around.places(word, "top")
        )
    for field in ("shared_gate", "latent_bias"):
        _check_stands_with(word, field, node, around)
    mixture = Mixture(
        experts=experts,
        top=top,
        each=Ffn(width, node.act, node.gated, node.bias, out_bias=node.bias),
        router_bias=node.router_bias,
        correction=_CORRECTIONS[node.correction],
        shared=_shared(word, node, around) if node.shared else None,
        shared_gate=node.shared_gate,
        latent=node.latent,
        latent_bias=node.latent_bias,
        out_bias=node.out_bias,
    )
    return around.layer_part(word, mixture, node.norm)


def _check_stands_with(word: str, field: str, node: Moe, around: Surroundings) -> None:
    """`shared_gate` needs `shared`, `latent_bias` needs `latent`."""
    about = field.partition("_")[0]
    if getattr(node, field) and not getattr(node, about):
        fact = f"{field} without {about}"
        raise InputError(fact, f"give {about}, or take {field} out", fields=around.places(word, field))


def _shared(word: str, node: Moe, around: Surroundings) -> Ffn:
    shared = node.shared or Shared()
    bias = own_or(shared.bias, around.scope.bias)
    return Ffn(
        width=around.needed(shared.width, "shared.width", "its inner width, such as `shared: 2048`", word),
        act=shared.act or node.act,
        gated=own_or(shared.gated, node.gated),
        bias=bias,
        out_bias=bias,
    )
