"""The part `moe`: a mixture of experts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.nodes import Norm, flag_or
from archcalc.archs.transformer.parts.ffn import Activation
from archcalc.archs.transformer.parts.part import LayerPart, Surroundings, own_or
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.ffn import Ffn
from archcalc.layers.moe import Mixture
from archcalc.spec.node import Node, Size, as_size, field

_CORRECTION_SCHEMA = {"enum": [True, False, "frozen"]}
_CORRECTIONS = {"frozen": "parameter", True: "buffer", False: ""}
Correction = Annotated[Any, BeforeValidator(partial(flag_or, ("frozen",))), WithJsonSchema(_CORRECTION_SCHEMA)]


def _width(value: Any) -> int:
    return 0 if value == 0 and not isinstance(value, bool) else as_size(value)


SizeOrNone = Annotated[int, BeforeValidator(_width), WithJsonSchema({"type": "integer", "minimum": 0})]


class Shared(Node):
    """The shared expert; missing fields are inherited from the routed experts."""

    main: ClassVar[str] = "width"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("width",)}
    width: SizeOrNone | None = field(
        None, "The inner width of all shared experts together; 0: there is none.", example=2048, unset="needed"
    )
    act: Activation | None = field(None, "Its activation.", example="silu", unset="that of the routed experts")
    gated: bool | None = field(
        None, "Two projections in, one of which gates the other.", example=True, unset="as the routed experts"
    )
    bias: bool | None = field(None, "Its projections have biases.", example=False, unset="bias of the model")


class Moe(Node):
    main: ClassVar[str] = "experts"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("experts", "top", "width")}
    experts: Size | None = field(None, "How many experts there are.", example=8, unset="needed")
    top: Size | None = field(None, "How many experts a token is routed to.", example=2, unset="needed")
    width: Size | None = field(None, "The inner width of one expert.", example=1024, unset="needed")
    act: Activation = field("silu", "The activation of the experts.", example="gelu")
    gated: bool = field(True, "Two projections in, one of which gates the other, as in SwiGLU.", example=False)
    bias: bool = field(False, "The projections of the experts have biases.", example=True)
    router_bias: bool = field(False, "The router has a bias.", example=True)
    router_norm: bool = field(
        False,
        "The router reads the residual stream through a norm of its own, and not what the experts read.",
        example=True,
    )
    expert_scale: bool = field(False, "A learned number for each expert scales its weight.", example=True)
    correction: Correction = field(
        False,
        "A bias that balances the choice of experts: true (a buffer) or `frozen` (a parameter that is not trained).",
        example=True,
    )
    shared: Shared | None = field(
        None, "A shared expert, which every token uses: its inner width, or more fields.", example=2048, unset="none"
    )
    shared_gate: bool = field(False, "A sigmoid gate on the output of the shared expert.", example=True, needs="shared")
    latent: Size | None = field(
        None, "The width that tokens are projected to before the experts, and back from.", example=1024, unset="d_model"
    )
    latent_bias: bool = field(False, "Biases in those projections.", example=True, needs="latent")
    latent_norm: bool = field(False, "An RMS norm in front of the projection back.", example=True, needs="latent")
    out_bias: bool = field(False, "A bias on the sum of all experts.", example=True)
    zero: Size | None = field(
        None,
        "Experts without weights that give back what they read: the router scores them too.",
        example=4,
        unset="none",
    )
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


@dataclass(frozen=True)
class MixturePart(LayerPart):
    """Experts whose router reads the residual stream."""

    layer: Mixture

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return self.layer.run(m, x, context.work, context.residual)


def resolve(word: str, slot: str, node: Moe, around: Surroundings) -> MixturePart:
    scope = around.scope
    layer = _mixture(word, node, around)
    return MixturePart(word, around.norm, scope.dropout, layer, layer_scale=scope.layer_scale, slot=slot)


def _mixture(word: str, node: Moe, around: Surroundings) -> Mixture:
    experts = around.needed(node.experts, "experts", "how many there are, such as `experts: 8`", word)
    top = around.needed(node.top, "top", "how many of them a token is routed to, such as `top: 2`", word)
    width = around.needed(node.width, "width", "the inner width of an expert, such as `width: 1024`", word)
    if top > experts:
        hint = f"use {experts} or fewer"
        raise InputError(
            f"a token cannot be routed to {top} of {experts} experts", hint, fields=around.places(word, "top")
        )
    for name in ("shared_gate", "latent_bias", "latent_norm"):
        _check_stands_with(word, name, node, around)
    return Mixture(
        experts=experts,
        top=top,
        each=Ffn(width, node.act, node.gated, node.bias, out_bias=node.bias),
        router_bias=node.router_bias,
        router_norm=_router_norm(node, around),
        expert_scale=node.expert_scale,
        correction=_CORRECTIONS[node.correction],
        shared=_shared(word, node, around) if node.shared else None,
        shared_gate=node.shared_gate,
        latent=node.latent,
        latent_bias=node.latent_bias,
        latent_norm=node.latent_norm,
        out_bias=node.out_bias,
        zero=node.zero or 0,
    )


def _router_norm(node: Moe, around: Surroundings) -> str:
    """The kind of the part's norm, if the router has one."""
    kinds = {"none": "rms"}
    return kinds.get(around.norm.kind, around.norm.kind) if node.router_norm else ""


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
