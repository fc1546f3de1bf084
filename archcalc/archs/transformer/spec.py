"""The fields of a Transformer as written in a spec.

Which stacks are present says what the model is: `decoder` alone, `encoder` alone, or both. What is said at the top
holds below (model, then encoder or decoder, then part) until something nearer says otherwise.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.archs.transformer import pattern
from archcalc.archs.transformer.nodes import Fraction, Norm, Positions, Sides, flag_or, flag_or_size
from archcalc.archs.transformer.parts import slot_node
from archcalc.layers.activation import ACTIVATIONS
from archcalc.spec.node import ModelSpec, Node, Size, as_size, mistake


def _pattern(value: Any) -> Any:
    try:
        pattern.parse(value)
    except ValueError as reason:
        raise mistake(str(reason)) from None
    return value


def _words(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Pattern = Annotated[Any, BeforeValidator(_pattern), WithJsonSchema({"type": "array", "minItems": 1})]


def _sizes(value: Any) -> Any:
    return tuple(as_size(item) for item in (value if isinstance(value, list | tuple) and value else [value]))


def _few_or_more(value: Any) -> Any:
    several = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= 10**6 for one in several):
        raise mistake("expected a number from 0 to 10⁶, or a list of them")
    return several if isinstance(value, list | tuple) else value


_FEW_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 10**6}
_TABLES_SCHEMA = {"anyOf": [_FEW_SCHEMA, {"type": "array", "items": _FEW_SCHEMA}]}
_SIZES_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": 1}}
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes), WithJsonSchema(_SIZES_SCHEMA)]
Few = Annotated[int, Field(ge=0, le=10**6)]
OneOrMore = Annotated[Any, BeforeValidator(_few_or_more), WithJsonSchema(_TABLES_SCHEMA)]


def _tables(value: Any) -> Any:
    if not isinstance(value, list | tuple) or not value or not all(isinstance(one, list | tuple) for one in value):
        raise mistake("expected a list of tables, each [rows, width]")
    found = tuple(tuple(as_size(size) for size in one) for one in value)
    if any(len(one) != 2 for one in found):
        raise mistake("expected [rows, width] for each table")
    return found


_TABLE_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2}
_JOINED_SCHEMA = {"type": "array", "items": _TABLE_SCHEMA, "minItems": 1}
JoinedTables = Annotated[tuple[tuple[int, int], ...], BeforeValidator(_tables), WithJsonSchema(_JOINED_SCHEMA)]
FlagOrSize = Annotated[Any, BeforeValidator(flag_or_size), WithJsonSchema({"type": ["boolean", "integer"]})]
BiasOrTwo = Annotated[Any, BeforeValidator(flag_or("twice")), WithJsonSchema({"enum": [True, False, "twice"]})]


class Embedding(Node):
    """Token embeddings, or a patch embedding. `bias` of tokens is the textbook's one-hot · W + b."""

    main: ClassVar[str] = "bias"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "tokens": frozenset(
            {"bias", "types", "norm", "shared", "width", "project", "project_bias", "always_project", "spare", "joined"}
        ),
        "audio": frozenset({"norm", "mels", "kernels", "strides"}),
        "patches": frozenset(
            {"bias", "norm", "image", "patch", "channels", "tokens", "registers", "mask", "pretrained"}
        ),
    }
    kind: Literal["tokens", "patches", "audio"] = "tokens"
    bias: bool | None = None  # tokens: no; patches: yes
    norm: bool = False
    types: OneOrMore = 0  # rows of segment embeddings; of each table, where there are several
    shared: bool = False  # one table for encoder and decoder
    width: Size | None = None  # of the tables, where it is not d_model
    project: Literal["norm", "sum", "tokens"] = "norm"  # what is projected to d_model: behind the norm, before it, or
    # the tokens alone, to which positions are added; then the output is projected back, for a head of that width
    project_bias: bool | None = None  # norm: yes; sum, tokens: no
    always_project: bool = False  # where width is d_model too
    spare: bool = False  # one more table that is kept and read by nothing
    joined: JoinedTables | None = None  # tables read beside that of tokens; all of them joined are projected to d_model
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

    @property
    def type_tables(self) -> tuple[int, ...]:
        """The rows of each table of types."""
        several = self.types if isinstance(self.types, tuple) else (self.types,)
        return tuple(rows for rows in several if rows)


class Scope(Node):
    """Fields of the whole model, or of one stack."""

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
    softmax: Literal["input", "fp32"] = "input"  # of eager attention: in the format of its input, or in fp32 and cast
    dropout: Fraction = 0.0
    embedding: Embedding = Embedding.model_construct()
    attention: Annotated[Any, slot_node("attention")] = None
    cross: Annotated[Any, slot_node("cross")] = None
    ffn: Annotated[Any, slot_node("ffn")] = None
    moe: Annotated[Any, slot_node("moe")] = None
    mamba: Annotated[Any, slot_node("mamba")] = None
    delta: Annotated[Any, slot_node("delta")] = None
    rglru: Annotated[Any, slot_node("rglru")] = None
    lightning: Annotated[Any, slot_node("lightning")] = None
    conv: Annotated[Any, slot_node("conv")] = None
    variants: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Stack(Scope):
    main: ClassVar[str] = "blocks"
    blocks: Size | None = None
    pattern: Pattern | None = None
    distinct: Size | None = None  # how many blocks have weights of their own; the others use theirs again
    once: Words = ()  # parts that stand once beside the blocks


class Mtp(Node):
    """Multi-token prediction: blocks after the last one that each predict one token further ahead."""

    main: ClassVar[str] = "blocks"
    blocks: Size | None = None
    own_tables: bool = False  # a token table and a head of its own for each, as DeepSeek-V3's checkpoint keeps them


class OneHead(Node):
    """One head on the last hidden states."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "lm": frozenset({"bias", "norm", "transform", "transform_bias", "vocab", "mtp", "beside"}),
        "tied": frozenset({"bias", "norm", "transform", "transform_bias", "vocab", "mtp", "beside"}),
        "classifier": frozenset(
            {"bias", "classes", "pool", "pooler", "hidden", "act", "project", "norm", "transform", "transform_bias"}
            | {"layers", "beside"}
        ),
        "none": frozenset({"pooler", "pool", "norm"}),
    }
    kind: Literal["lm", "tied", "classifier", "none"] = "lm"
    bias: BiasOrTwo = False  # twice: and a spare one that nothing reads
    norm: bool = False  # in front, besides the stack's own; of none on what is pooled
    transform: FlagOrSize = (
        False  # a dense layer, activation and norm in front, as BERT's masked-LM head has; how wide,
    )
    # where that is not the token table's width
    vocab: Size | None = None
    classes: Size | None = None
    transform_bias: bool = True
    hidden: Size | None = None  # of a layer before the classes
    act: Literal[*ACTIVATIONS] = "tanh"  # type: ignore[valid-type] # of that layer
    project: Size | None = None  # of a layer on every position before they are pooled
    layers: Literal["last", "weighted"] = "last"  # or all of them, each with a learned weight
    mtp: Mtp | None = None
    pooler: FlagOrSize = False  # a layer on the first position, with tanh; how wide, where that is not d_model
    pool: Literal["each", "patches", "class", "second", "mean", "last", "both", "probe"] | None = (
        None  # what is classified
    )


class Head(OneHead):
    """The output heads on the last hidden states."""

    beside: OneHead | None = None  # a second answer from the same states


class Spec(Scope, ModelSpec):
    family: Literal["transformer"] = "transformer"
    spare: dict[str, Sizes] = Field(default_factory=dict)  # tensors that are kept and read by nothing: name, shape
    encoder: Stack | None = None
    decoder: Stack | None = None
    head: Head = Head.model_construct()
    fused_qkv: bool = False  # a GGUF file keeps queries, keys and values in one matrix, for which mixtures have a rule


SCOPE_FIELDS = tuple(Scope.model_fields)
