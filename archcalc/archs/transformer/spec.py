"""The Transformer as people write it.

Which stacks are present says what the model is: `decoder` alone, `encoder` alone, or both. What is said at the top
holds below (model, then encoder or decoder, then part) until something nearer says otherwise.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from archcalc.archs.transformer import pattern
from archcalc.layers.activation import ACTIVATIONS
from archcalc.spec import ModelSpec, Node, Size

Activation = Literal[*ACTIVATIONS]  # type: ignore[valid-type]
Fraction = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


def _one_or_more(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _bias(value: Any) -> Any:
    letters = ("q", "k", "v", "o")
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and value and all(item in letters for item in value):
        return tuple(value)
    raise PydanticCustomError("mistake", "expected true, false or a list of {fact}", {"fact": "q, k, v, o"})


def _pattern(value: Any) -> Any:
    try:
        pattern.parse(value)
    except ValueError as reason:
        raise PydanticCustomError("mistake", "{fact}", {"fact": str(reason)}) from None
    return value


_LETTERS = {"type": "array", "items": {"enum": ["q", "k", "v", "o"]}}
AttentionBias = Annotated[Any, BeforeValidator(_bias), WithJsonSchema({"anyOf": [{"type": "boolean"}, _LETTERS]})]
Pattern = Annotated[Any, BeforeValidator(_pattern), WithJsonSchema({"type": "array", "minItems": 1})]


class Norm(Node):
    """Normalisation: its kind, and where it stands: `pre` (before the branch), `post` (after the add), `out` (on the
    branch, before the add) or `sandwich` (pre and out)."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "layer": frozenset({"bias", "affine", "place", "final"}),
        "rms": frozenset({"affine", "place", "final"}),
        "none": frozenset({"place", "final"}),
    }
    kind: Literal["layer", "rms", "none"] = "layer"
    bias: bool = True
    affine: bool = True
    place: Literal["pre", "post", "out", "sandwich"] = "pre"
    final: bool | None = None  # a norm behind the last block: yes, unless post


class Position(Node):
    """How the model knows where a token stands."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "none": frozenset(),
        "sinusoidal": frozenset({"length", "stored"}),
        "learned": frozenset({"length", "offset"}),
        "rope": frozenset({"length", "theta", "fraction"}),
        "alibi": frozenset({"length"}),
        "relative": frozenset({"length", "buckets", "per"}),
    }
    kind: Literal["none", "sinusoidal", "learned", "rope", "alibi", "relative"] = "none"
    length: Size | None = None  # the longest sequence; learned positions need it
    stored: bool = False  # sinusoids kept as a frozen parameter
    offset: Annotated[int, Field(ge=0, le=1024)] = 0  # rows in front that no token uses (OPT and BART: 2)
    theta: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10_000.0
    fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0  # of each head that is rotated
    buckets: Size | None = None
    per: Literal["stack", "block"] = "stack"


Positions = Annotated[tuple[Position, ...], BeforeValidator(_one_or_more)]


class Attention(Node):
    main: ClassVar[str] = "heads"
    heads: Size | None = None
    kv_heads: Size | None = None
    head_dim: Size | None = None
    bias: AttentionBias | None = None
    position: Positions | None = None
    norm: Norm | None = None


class Ffn(Node):
    main: ClassVar[str] = "width"
    width: Size | None = None
    act: Activation = "gelu"
    gated: bool = False
    bias: bool | None = None
    norm: Norm | None = None


class Embedding(Node):
    """Token embeddings. `bias` is the textbook's one-hot · W + b; `types` are segment embeddings."""

    main: ClassVar[str] = "bias"
    bias: bool = False
    types: Annotated[int, Field(ge=0, le=10**6)] = 0
    norm: bool = False
    shared: bool = False  # one table for encoder and decoder


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
    dropout: Fraction = 0.0
    embedding: Embedding = Embedding()
    attention: Attention = Attention()
    cross: Attention = Attention()
    ffn: Ffn = Ffn()
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
        "classifier": frozenset({"bias", "classes"}),
        "none": frozenset(),
    }
    kind: Literal["lm", "tied", "classifier", "none"] = "lm"
    bias: bool = False
    transform: bool = False  # a dense layer, activation and norm in front, as BERT's masked-LM head has
    vocab: Size | None = None
    classes: Size | None = None


class Spec(Scope, ModelSpec):
    family: Literal["transformer"] = "transformer"
    encoder: Stack | None = None
    decoder: Stack | None = None
    head: Head = Head()


SCOPE_FIELDS = tuple(Scope.model_fields)
SLOTS: dict[str, type[Node]] = {"attention": Attention, "cross": Attention, "ffn": Ffn}
