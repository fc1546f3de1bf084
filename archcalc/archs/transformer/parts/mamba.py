"""The part `mamba`: a state-space layer, of kind `mamba` or `mamba2`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm, flag_or
from archcalc.archs.transformer.parts.ffn import SIDES, FfnBias
from archcalc.archs.transformer.parts.part import Surroundings
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError
from archcalc.layers import ssd, ssm
from archcalc.spec.node import Node, Size, field

_EVERY_KIND = frozenset({"inner", "state", "conv", "bias", "conv_bias", "norm"})


_NORMS_SCHEMA = {"enum": [True, False, "weightless"]}
_NORMS = {True: "rms", False: "none", "weightless": "weightless"}
Norms = Annotated[Any, BeforeValidator(partial(flag_or, ("weightless",))), WithJsonSchema(_NORMS_SCHEMA)]


class Mamba(Node):
    main: ClassVar[str] = "state"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "mamba": _EVERY_KIND | {"dt_rank", "norms"},
        "mamba2": _EVERY_KIND | {"heads", "groups", "chunk", "gate_norm", "norm_groups"},
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"mamba2": ("heads",)}
    kind: Literal["mamba", "mamba2"] = field("mamba", "The state-space layer: Mamba or Mamba-2.", example="mamba2")
    inner: Size | None = field(None, "The inner width.", example=1536, unset="2 · d_model")
    state: Size | None = field(
        None, "Numbers of state for each channel.", example=64, unset="16 in mamba, 128 in mamba2"
    )
    conv: Size = field(4, "The kernel of the convolution in front.", example=4)
    dt_rank: Size | None = field(
        None, "The width that Δ is projected through.", example=48, unset="d_model / 16, rounded up"
    )
    heads: Size | None = field(None, "Mamba-2: heads of the inner width.", example=16, unset="needed by mamba2")
    groups: Size = field(1, "Mamba-2: groups of heads that share B and C.", example=8)
    gate_norm: bool = field(True, "Mamba-2: a norm behind the gate.", example=False)
    norm_groups: Size = field(
        1, "Mamba-2: groups of channels that this norm normalises separately.", example=8, needs="gate_norm"
    )
    chunk: Size = field(256, "Mamba-2: positions that are computed at once.", example=128)
    bias: FfnBias = field(
        False, "The projections in and out have biases: true, false, or a list of those that do.", example=["in"]
    )
    conv_bias: bool = field(True, "The convolution has a bias.", example=False)
    norms: Norms = field(False, "Norms on Δ, B and C: true, or `weightless`.", example=True)
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


def resolve(word: str, slot: str, node: Mamba, around: Surroundings) -> ssm.Mamba | ssd.Mamba2:
    node.check_kind(node.kind, *around.places(word))
    around.check_causal(node.kind)
    if node.kind == "mamba2":
        return _mamba2(word, node, around)
    biased: Any = SIDES.get(node.bias, node.bias)
    return ssm.Mamba(
        inner=node.inner or Derived(2 * around.d_model),
        state=node.state or Derived(16),
        conv=node.conv,
        dt_rank=node.dt_rank or Derived(-(-around.d_model // 16)),
        bias="in" in biased,
        out_bias="out" in biased,
        conv_bias=node.conv_bias,
        norms=_NORMS[node.norms],
    )


def _mamba2(word: str, node: Mamba, around: Surroundings) -> ssd.Mamba2:
    inner = node.inner or Derived(2 * around.d_model)
    heads = around.needed(node.heads, "heads", "the number of its heads, such as `heads: 64`", word)
    around.check_divides(inner, "inner", heads, word, "heads")
    around.check_divides(heads, "heads", node.groups, word, "groups")
    around.check_divides(inner, "inner", node.norm_groups, word, "norm_groups")
    if "norm_groups" in node.model_fields_set and not node.gate_norm:
        fields = around.places(word, "norm_groups")[:2]
        raise InputError("norm_groups is set, but gate_norm is off", "leave norm_groups out", fields=fields)
    biased: Any = SIDES.get(node.bias, node.bias)
    return ssd.Mamba2(
        inner=inner,
        heads=heads,
        state=node.state or Derived(128),
        groups=node.groups,
        conv=node.conv,
        bias="in" in biased,
        out_bias="out" in biased,
        conv_bias=node.conv_bias,
        chunk=node.chunk,
        norm_groups=node.norm_groups if node.gate_norm else 0,
    )
