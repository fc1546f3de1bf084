"""The Transformer as people write it.

Which stacks are present says what the model is: `decoder` alone, `encoder` alone, or both. What is said at the top
holds below (model, then encoder or decoder, then part) until something nearer says otherwise.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.archs.transformer import pattern
from archcalc.archs.transformer.nodes import Norm, Positions, Sides, flag_or, flag_or_size
from archcalc.archs.transformer.parts import slot_node
from archcalc.spec import ModelSpec, Node, Size, as_size, mistake

Fraction = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


def _pattern(value: Any) -> Any:
    try:
        pattern.parse(value)
    except ValueError as reason:
        raise mistake(str(reason)) from None
    return value


def _words(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Pattern = Annotated[Any, BeforeValidator(_pattern), WithJsonSchema({"type": "array", "minItems": 1})]


def _sizes(value: Any) -> Any:
    return tuple(as_size(item) for item in (value if isinstance(value, list | tuple) and value else [value]))


_SIZES_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": 1}}
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes), WithJsonSchema(_SIZES_SCHEMA)]
Few = Annotated[int, Field(ge=0, le=10**6)]


FlagOrSize = Annotated[Any, BeforeValidator(flag_or_size), WithJsonSchema({"type": ["boolean", "integer"]})]
BiasOrTwo = Annotated[Any, BeforeValidator(flag_or("twice")), WithJsonSchema({"enum": [True, False, "twice"]})]


class Embedding(Node):
    """Token embeddings, or an image in patches. `bias` of tokens is the textbook's one-hot · W + b."""

    main: ClassVar[str] = "bias"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "tokens": frozenset(
            {"bias", "types", "norm", "shared", "width", "project", "project_bias", "always_project", "spare"}
        ),
        "audio": frozenset({"norm", "mels", "kernels", "strides"}),
        "patches": frozenset(
            {"bias", "norm", "image", "patch", "channels", "tokens", "registers", "mask", "pretrained"}
        ),
    }
    kind: Literal["tokens", "patches", "audio"] = "tokens"
    bias: bool | None = None  # tokens: no; patches: yes
    norm: bool = False
    types: Few = 0  # segment embeddings
    shared: bool = False  # one table for encoder and decoder
    width: Size | None = None  # of the tables, where it is not d_model
    project: Literal["norm", "sum", "tokens"] = "norm"  # what is projected to d_model: behind the norm, before it, or
    # the tokens alone, to which positions are added; then the output is projected back, for a head of that width
    project_bias: bool | None = None  # norm: yes; sum, tokens: no
    always_project: bool = False  # where width is d_model too
    spare: bool = False  # one more table that is kept and read by nothing
    mels: Size = 80  # audio: channels of a frame
    kernels: Sizes = (3, 3)  # audio: one convolution for each
    strides: Sizes = (1, 2)
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
    norm: Norm = Norm.model_construct()
    position: Positions = ()
    parallel: Literal["shared", "separate"] | None = None  # parts beside each other, with one norm or one each
    layer_scale: bool = False  # a learned vector on every branch
    dropout: Fraction = 0.0
    embedding: Embedding = Embedding.model_construct()
    attention: Annotated[Any, slot_node("attention")] = None
    cross: Annotated[Any, slot_node("cross")] = None
    ffn: Annotated[Any, slot_node("ffn")] = None
    moe: Annotated[Any, slot_node("moe")] = None
    mamba: Annotated[Any, slot_node("mamba")] = None
    delta: Annotated[Any, slot_node("delta")] = None
    rglru: Annotated[Any, slot_node("rglru")] = None
    conv: Annotated[Any, slot_node("conv")] = None
    variants: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Stack(Scope):
    main: ClassVar[str] = "blocks"
    blocks: Size | None = None
    pattern: Pattern | None = None
    distinct: Size | None = None  # how many blocks have weights of their own; the others use theirs again
    once: Words = ()  # parts that stand once beside the blocks


class Mtp(Node):
    """Blocks behind the last one that each predict one token further ahead."""

    main: ClassVar[str] = "blocks"
    blocks: Size | None = None
    own_tables: bool = False  # a token table and a head of its own for each, as DeepSeek-V3's checkpoint keeps them


class Head(Node):
    """What turns the last hidden states into answers."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "lm": frozenset({"bias", "transform", "transform_bias", "vocab", "mtp"}),
        "tied": frozenset({"bias", "transform", "transform_bias", "vocab", "mtp"}),
        "classifier": frozenset({"bias", "classes", "pool", "pooler", "hidden", "transform", "transform_bias"}),
        "none": frozenset({"pooler"}),
    }
    kind: Literal["lm", "tied", "classifier", "none"] = "lm"
    bias: BiasOrTwo = False  # twice: and a spare one that nothing reads
    transform: bool = False  # a dense layer, activation and norm in front, as BERT's masked-LM head has
    vocab: Size | None = None
    classes: Size | None = None
    transform_bias: bool = True
    hidden: Size | None = None  # of a layer before the classes, with tanh
    mtp: Mtp | None = None
    pooler: FlagOrSize = False  # a layer on the first position, with tanh; how wide, where that is not d_model
    pool: Literal["each", "class", "mean", "last", "both"] | None = None  # what is classified; unsaid: see `resolve`


class Spec(Scope, ModelSpec):
    family: Literal["transformer"] = "transformer"
    encoder: Stack | None = None
    decoder: Stack | None = None
    head: Head = Head.model_construct()


SCOPE_FIELDS = tuple(Scope.model_fields)
