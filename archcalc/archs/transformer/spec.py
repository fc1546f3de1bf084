"""The Transformer as people write it.

Which stacks are present says what the model is: `decoder` alone, `encoder` alone, or both. What is said at the top
holds below (model, then encoder or decoder, then part) until something nearer says otherwise.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.archs.transformer import pattern
from archcalc.archs.transformer.nodes import Norm, Positions, Sides
from archcalc.archs.transformer.parts.attention import Attention
from archcalc.archs.transformer.parts.conv import Conv
from archcalc.archs.transformer.parts.delta import Delta
from archcalc.archs.transformer.parts.ffn import Ffn
from archcalc.archs.transformer.parts.mamba import Mamba
from archcalc.archs.transformer.parts.moe import Moe
from archcalc.archs.transformer.parts.rglru import Rglru
from archcalc.spec import ModelSpec, Node, Size, mistake

Fraction = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


def _pattern(value: Any) -> Any:
    try:
        pattern.parse(value)
    except ValueError as reason:
        raise mistake(str(reason)) from None
    return value


Pattern = Annotated[Any, BeforeValidator(_pattern), WithJsonSchema({"type": "array", "minItems": 1})]


Few = Annotated[int, Field(ge=0, le=10**6)]


class Embedding(Node):
    """Token embeddings, or an image in patches. `bias` of tokens is the textbook's one-hot · W + b."""

    main: ClassVar[str] = "bias"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "tokens": frozenset({"bias", "types", "norm", "shared"}),
        "patches": frozenset(
            {"bias", "norm", "image", "patch", "channels", "tokens", "registers", "mask", "pretrained"}
        ),
    }
    kind: Literal["tokens", "patches"] = "tokens"
    bias: bool | None = None  # tokens: no; patches: yes
    norm: bool = False
    types: Few = 0  # segment embeddings
    shared: bool = False  # one table for encoder and decoder
    image: Sides | None = None
    patch: Sides | None = None
    channels: Size = 3
    tokens: Few = 1  # learned vectors in front: the class token, a distillation token
    registers: Few = 0  # learned vectors that have no position
    mask: bool = False  # a learned vector in the place of hidden patches
    pretrained: Sides | None = None  # the image that the position table was trained on


class Scope(Node):
    """What can be said for the model, for a stack, or for both at once."""

    vocab: Size | None = None
    d_model: Size | None = None
    heads: Size | None = None
    kv_heads: Size | None = None
    head_dim: Size | None = None
    bias: bool = True
    norm: Norm = Norm()
    position: Positions = ()
    parallel: Literal["shared", "separate"] | None = None  # parts beside each other, with one norm or one each
    layer_scale: bool = False  # a learned vector on every branch
    dropout: Fraction = 0.0
    embedding: Embedding = Embedding()
    attention: Attention = Attention()
    cross: Attention = Attention()
    ffn: Ffn = Ffn()
    moe: Moe = Moe()
    mamba: Mamba = Mamba()
    delta: Delta = Delta()
    rglru: Rglru = Rglru()
    conv: Conv = Conv()
    variants: dict[str, dict[str, Any]] = {}


class Stack(Scope):
    main: ClassVar[str] = "blocks"
    blocks: Size | None = None
    pattern: Pattern | None = None


class Head(Node):
    """What turns the last hidden states into answers."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "lm": frozenset({"bias", "transform", "vocab"}),
        "tied": frozenset({"bias", "transform", "vocab"}),
        "classifier": frozenset({"bias", "classes", "pool"}),
        "none": frozenset(),
    }
    kind: Literal["lm", "tied", "classifier", "none"] = "lm"
    bias: bool = False
    transform: bool = False  # a dense layer, activation and norm in front, as BERT's masked-LM head has
    vocab: Size | None = None
    classes: Size | None = None
    pool: Literal["each", "class", "mean", "last"] | None = None  # what is classified; unsaid: see `resolve`


class Spec(Scope, ModelSpec):
    family: Literal["transformer"] = "transformer"
    encoder: Stack | None = None
    decoder: Stack | None = None
    head: Head = Head()


SCOPE_FIELDS = tuple(Scope.model_fields)
