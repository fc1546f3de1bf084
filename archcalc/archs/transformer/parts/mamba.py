"""The part `mamba`: a state-space layer, of kind `mamba` or `mamba2`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm, flag_or
from archcalc.archs.transformer.parts.part import Context, Part, Surroundings
from archcalc.errors import InputError
from archcalc.ir import Module, Tensor
from archcalc.layers import ssd, ssm
from archcalc.spec import Node, Size

_EVERY_KIND = frozenset({"inner", "state", "conv", "bias", "conv_bias", "norm"})


_NORMS_SCHEMA = {"enum": [True, False, "weightless"]}
Norms = Annotated[Any, BeforeValidator(flag_or("weightless")), WithJsonSchema(_NORMS_SCHEMA)]


class Mamba(Node):
    main: ClassVar[str] = "state"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "mamba": _EVERY_KIND | {"dt_rank", "norms"},
        "mamba2": _EVERY_KIND | {"heads", "groups", "chunk", "norm_groups"},
    }
    kind: Literal["mamba", "mamba2"] = "mamba"
    inner: Size | None = None  # twice d_model, unless it is said
    state: Size | None = None  # numbers kept for each channel: 16 in mamba, 128 in mamba2
    conv: Size = 4
    dt_rank: Size | None = None  # a sixteenth of d_model, rounded up
    heads: Size | None = None
    groups: Size = 1
    norm_groups: Size = 1  # shares of the inner channels, each normalised by itself
    chunk: Size = 256  # positions that mamba2 computes at once
    bias: bool = False
    conv_bias: bool = True
    norms: Norms = False  # on Δ, B and C
    norm: Norm | None = None


@dataclass(frozen=True)
class MambaPart(Part):
    layer: ssm.Mamba | ssd.Mamba2

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return self.layer.run(m, x, context.work)


def resolve(word: str, slot: str, said: Mamba, around: Surroundings) -> MambaPart:
    said.check_kind(said.kind, *around.places(word))
    if not around.causal:
        hint = "put it into a decoder"
        raise InputError(f"{said.kind} reads its sequence from left to right", hint, fields=around.places("pattern"))
    layer = _mamba(said, around) if said.kind == "mamba" else _mamba2(word, said, around)
    return MambaPart(name=word, norm=around.norm(said.norm), dropout=around.scope.dropout, layer=layer)


def _mamba(said: Mamba, around: Surroundings) -> ssm.Mamba:
    return ssm.Mamba(
        inner=said.inner or 2 * around.d_model,
        state=said.state or 16,
        conv=said.conv,
        dt_rank=said.dt_rank or -(-around.d_model // 16),
        bias=said.bias,
        conv_bias=said.conv_bias,
        norms="weightless" if said.norms == "weightless" else "rms" if said.norms else "none",
    )


def _mamba2(word: str, said: Mamba, around: Surroundings) -> ssd.Mamba2:
    inner = said.inner or 2 * around.d_model
    heads = around.needed(said.heads, "heads", "the number of its heads, such as `heads: 64`", word)
    around.check_divides(inner, "inner", heads, word, "heads")
    around.check_divides(heads, "heads", said.groups, word, "groups")
    around.check_divides(inner, "inner", said.norm_groups, word, "norm_groups")
    return ssd.Mamba2(
        inner=inner,
        heads=heads,
        state=said.state or 128,
        groups=said.groups,
        conv=said.conv,
        bias=said.bias,
        conv_bias=said.conv_bias,
        chunk=said.chunk,
        norm_groups=said.norm_groups,
    )
