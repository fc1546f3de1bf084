"""The part `delta`: Gated DeltaNet, or Kimi Delta Attention (`kda`) with a decay per channel."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.transformer.nodes import Norm, flag_or
from archcalc.archs.transformer.parts.part import Surroundings
from archcalc.core.derived import Derived
from archcalc.layers import delta
from archcalc.spec.node import Node, Size, field

SQUEEZED: dict[Any, tuple[str, ...]] = {True: ("forget", "gate"), "decays": ("forget",), False: ()}
_SQUEEZE_SCHEMA = {"enum": [*SQUEEZED]}
Squeeze = Annotated[Any, BeforeValidator(partial(flag_or, ("decays",))), WithJsonSchema(_SQUEEZE_SCHEMA)]


class Delta(Node):
    main: ClassVar[str] = "heads"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "gated": frozenset({"heads", "v_heads", "head_dim", "v_dim", "conv", "chunk", "norm"}),
        "kda": frozenset({"heads", "head_dim", "conv", "chunk", "norm", "squeeze"}),
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("heads", "head_dim")}
    kind: Literal["gated", "kda"] = field(
        "gated", "Gated DeltaNet, or Kimi delta attention (`kda`) with a decay for each channel.", example="kda"
    )
    heads: Size | None = field(None, "Heads of queries and keys.", example=16, unset="needed")
    v_heads: Size | None = field(None, "Heads of values.", example=32, unset="heads")
    head_dim: Size | None = field(None, "The width of a head's queries and keys.", example=128, unset="needed")
    v_dim: Size | None = field(None, "The width of a head's values.", example=128, unset="head_dim")
    conv: Size = field(4, "The kernel of the convolution in front.", example=4)
    squeeze: Squeeze = field(
        True,
        "Kimi delta attention: decays and gate are projected through a vector as wide as one head; with `decays` these"
        " alone are.",
        example=False,
    )
    chunk: Size = field(64, "Positions that are computed at once.", example=128)
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


def resolve(word: str, slot: str, node: Delta, around: Surroundings) -> delta.Delta | delta.KimiDelta:
    node.check_kind(node.kind, *around.places(word))
    around.check_causal("a delta net")
    heads = around.needed(node.heads, "heads", "the heads of queries and keys, such as `heads: 16`", word)
    head_dim = around.needed(node.head_dim, "head_dim", "the width of a key, such as `head_dim: 128`", word)
    v_heads = node.v_heads or Derived(heads)
    around.check_divides(v_heads, "v_heads", heads, word, "heads")
    sizes = heads, v_heads, head_dim, node.v_dim or Derived(head_dim), node.conv, node.chunk
    return delta.Delta(*sizes) if node.kind == "gated" else delta.KimiDelta(*sizes, squeeze=SQUEEZED[node.squeeze])
