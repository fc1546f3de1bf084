"""The part `mamba`: a state-space layer, of kind `mamba` or `mamba2`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm, flag_or
from archcalc.archs.transformer.parts.ffn import FfnBias
from archcalc.archs.transformer.parts.part import LayerPart, Surroundings
from archcalc.core.errors import InputError
from archcalc.layers import ssd, ssm
from archcalc.spec.node import Node, Size

_EVERY_KIND = frozenset({"inner", "state", "conv", "bias", "conv_bias", "norm"})


_NORMS_SCHEMA = {"enum": [True, False, "weightless"]}
_NORMS = {True: "rms", False: "none", "weightless": "weightless"}
Norms = Annotated[Any, BeforeValidator(flag_or("weightless")), WithJsonSchema(_NORMS_SCHEMA)]


class Mamba(Node):
    main: ClassVar[str] = "state"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "mamba": _EVERY_KIND | {"dt_rank", "norms"},
        "mamba2": _EVERY_KIND | {"heads", "groups", "chunk", "gate_norm", "norm_groups"},
    }
    kind: Literal["mamba", "mamba2"] = "mamba"
    inner: Size | None = None  # twice d_model, unless it is said
    state: Size | None = None  # numbers kept for each channel: 16 in mamba, 128 in mamba2
    conv: Size = 4
    dt_rank: Size | None = None  # a sixteenth of d_model, rounded up
    heads: Size | None = None
    groups: Size = 1
    gate_norm: bool = True  # mamba2: a norm behind the gate
    norm_groups: Size = 1  # shares of the inner channels, each normalised by itself
    chunk: Size = 256  # positions that mamba2 computes at once
    bias: FfnBias = False  # of the projections in and out; a list where only one has it
    conv_bias: bool = True
    norms: Norms = False  # on Δ, B and C
    norm: Norm | None = None


def resolve(word: str, slot: str, node: Mamba, around: Surroundings) -> LayerPart:
    node.check_kind(node.kind, *around.places(word))
    around.check_causal(node.kind)
    layer = _mamba(node, around) if node.kind == "mamba" else _mamba2(word, node, around)
    return around.layer_part(word, layer, node.norm)


def _mamba(node: Mamba, around: Surroundings) -> ssm.Mamba:
    return ssm.Mamba(
        inner=node.inner or 2 * around.d_model,
        state=node.state or 16,
        conv=node.conv,
        dt_rank=node.dt_rank or -(-around.d_model // 16),
        bias=_biased(node, "in"),
        out_bias=_biased(node, "out"),
        conv_bias=node.conv_bias,
        norms=_NORMS[node.norms],
    )


def _mamba2(word: str, node: Mamba, around: Surroundings) -> ssd.Mamba2:
    inner = node.inner or 2 * around.d_model
    heads = around.needed(node.heads, "heads", "the number of its heads, such as `heads: 64`", word)
    around.check_divides(inner, "inner", heads, word, "heads")
    around.check_divides(heads, "heads", node.groups, word, "groups")
    around.check_divides(inner, "inner", node.norm_groups, word, "norm_groups")
    if "norm_groups" in node.model_fields_set and not node.gate_norm:
        fields = around.places(word, "norm_groups")[:2]
        raise InputError("norm_groups is set, but gate_norm is off", "leave norm_groups out", fields=fields)
    return ssd.Mamba2(
        inner=inner,
        heads=heads,
        state=node.state or 128,
        groups=node.groups,
        conv=node.conv,
        bias=_biased(node, "in"),
        out_bias=_biased(node, "out"),
        conv_bias=node.conv_bias,
        chunk=node.chunk,
        norm_groups=node.norm_groups if node.gate_norm else 0,
    )


def _biased(node: Mamba, side: str) -> bool:
    return side in node.bias if isinstance(node.bias, tuple) else bool(node.bias)
