"""The fields of a Transformer as written in a spec.

Which stacks are present says what the model is: `decoder` alone, `encoder` alone, or both. What is said at the top
holds below (model, then encoder or decoder, then part) until something nearer says otherwise.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.archs.transformer import pattern
from archcalc.archs.transformer.head_fields import Activation, Head
from archcalc.archs.transformer.nodes import Fraction, Norm, Sides, list_as_tuple
from archcalc.archs.transformer.parts import SLOTS
from archcalc.archs.transformer.positions import Positions
from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import Node, OneOrMore, Size, as_size, as_tuple, field, mistake


def _pattern(value: Any) -> Any:
    try:
        pattern.parse(value)
    except ValueError as reason:
        raise mistake(str(reason)) from None
    return value


def _words(value: Any) -> Any:
    return (value,) if isinstance(value, str) else list_as_tuple(value)


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Pattern = Annotated[Any, BeforeValidator(_pattern), WithJsonSchema({"type": "array", "minItems": 1})]


def _sizes(value: Any) -> Any:
    return tuple(as_size(item) for item in (value if isinstance(value, list | tuple) and value else [value]))


def _few_or_more(value: Any) -> Any:
    several = as_tuple(value)
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= 10**6 for one in several):
        raise mistake("expected a number from 0 to 10⁶, or a list of them")
    return several if isinstance(value, list | tuple) else value


Seconds = Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)]
ConvNorms = Annotated[tuple[Literal["none", "layer", "channel"], ...], BeforeValidator(as_tuple), OneOrMore()]
Acts = Annotated[tuple[Activation, ...], BeforeValidator(as_tuple), OneOrMore()]

_FEW_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 10**6}
_TABLES_SCHEMA = {"anyOf": [_FEW_SCHEMA, {"type": "array", "items": _FEW_SCHEMA}]}
_SIZES_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": 1}}
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes), WithJsonSchema(_SIZES_SCHEMA)]
Few = Annotated[int, Field(ge=0, le=10**6)]
RowsOfTables = Annotated[Any, BeforeValidator(_few_or_more), WithJsonSchema(_TABLES_SCHEMA)]


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


class Embedding(Node):
    """Token embeddings, or a patch embedding. `bias` of tokens is the textbook's one-hot · W + b."""

    main: ClassVar[str] = "bias"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "tokens": frozenset(
            {"bias", "types", "norm", "shared", "width", "project", "project_bias", "always_project", "spare", "joined"}
        ),
        "audio": frozenset(
            {"bias", "norm", "mels", "samples", "channels_out", "kernels", "strides", "padded", "acts", "norms"}
            | {"rate", "seconds"}
            | {"features_norm", "always_project", "mask"}
        ),
        "vectors": frozenset({"norm"}),
        "patches": frozenset(
            {"bias", "norm", "image", "patch", "channels", "tokens", "registers", "mask", "frames", "pretrained"}
        ),
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"patches": ("image", "patch")}
    kind: Literal["tokens", "patches", "audio", "vectors"] = field(
        "tokens",
        "What the model reads: tokens, patches of an image, frames of audio, or vectors that are d_model wide already.",
        example="patches",
    )
    bias: bool | None = field(
        None,
        "A bias on the embedding: for tokens it is the textbook's one-hot · W + b.",
        example=True,
        unset="false for tokens, true for patches and for the convolutions over audio",
    )
    norm: bool = field(False, "A norm on the sum of all embeddings.", example=True)
    types: RowsOfTables = field(
        0, "Rows of the table of segments, as BERT has them; a list for several tables.", example=2
    )
    shared: bool = field(False, "Encoder and decoder use one token table.", example=True)
    width: Size | None = field(
        None,
        "The width of the tables, where it is not that of the model; they are then projected.",
        example=128,
        unset="d_model",
    )
    project: Literal["norm", "sum", "tokens"] = field(
        "norm",
        "What is projected to d_model: `norm` (behind the norm), `sum` (before it) or `tokens` (before "
        "positions are added; the output is projected back).",
        example="tokens",
        needs="width",
    )
    project_bias: bool | None = field(
        None,
        "A bias on that projection.",
        example=False,
        unset="true for norm, false for sum and tokens",
        needs="width",
    )
    always_project: bool = field(False, "Project also where the widths are equal.", example=True)
    spare: bool = field(False, "One more table, which nothing reads.", example=True)
    joined: JoinedTables | None = field(
        None,
        "Further tables, [rows, width] each, whose vectors are joined with those of the tokens and projected "
        "to d_model.",
        example=[[3, 256]],
    )
    mels: Size = field(80, "Audio: channels of a frame.", example=128, unless="samples")
    samples: bool = field(
        False, "Audio: the convolutions read the recording itself, and no spectrogram of it.", example=True
    )
    rate: Size | None = field(
        None,
        "Audio: how many frames, or samples, a second has, so that a workload can be given in seconds.",
        example=100,
        unset="a workload names positions",
    )
    seconds: Seconds | None = field(
        None,
        "Audio: how long a recording is where a workload names no length.",
        example=30,
        unset="as long as the position table, or a sequence of the usual length",
        needs="rate",
    )
    kernels: Sizes = field((3, 3), "Audio: the kernel of each convolution in front.", example=[3, 3])
    strides: Sizes = field((1, 2), "Audio: the stride of each of those convolutions.", example=[1, 2])
    channels_out: Sizes | None = field(
        None, "Audio: the channels that each of those convolutions makes.", example=[512, 512], unset="d_model"
    )
    padded: bool = field(True, "Audio: those convolutions pad half a kernel at both ends.", example=False)
    acts: Acts = field(("gelu",), "Audio: the activation behind each convolution, or one for all.", example="relu")
    norms: ConvNorms = field(
        ("none",),
        "Audio: the norm behind each convolution, or one for all: of the channels of a position (`layer`), of every"
        " channel over all positions (`channel`) or `none`.",
        example=["channel", "none"],
    )
    features_norm: bool = field(
        False, "Audio: a layer norm on what the convolutions make, in front of its projection.", example=True
    )
    image: Sides | None = field(
        None, "The size of an image in pixels: one side, or [height, width].", example=224, unset="needed for patches"
    )
    patch: Sides | None = field(
        None, "The size of a patch in pixels: one side, or [height, width].", example=16, unset="needed for patches"
    )
    channels: Size = field(3, "The channels of an image.", example=1)
    tokens: Few = field(1, "Learned vectors in front of the patches: the class token, a distillation token.", example=2)
    registers: Few = field(0, "Learned vectors in front that have no position.", example=4)
    mask: bool = field(
        False, "A learned vector that stands in for hidden patches, or hidden positions of audio.", example=True
    )
    frames: Size = field(
        1, "Frames of a clip that a patch holds; a still image is repeated for each of them.", example=2
    )
    pretrained: Sides | None = field(
        None, "The image size that the position table was trained for; it is interpolated for another.", example=224
    )


class Streams(Node):
    """Several residual streams, mixed around each part by a doubly stochastic matrix (DeepSeek-V4)."""

    main: ClassVar[str] = "number"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("number",)}
    number: Annotated[int, Field(ge=1, le=64)] | None = field(None, "How many streams.", example=4, unset="needed")
    rounds: Annotated[int, Field(ge=1, le=1000)] = field(
        20, "How often rows and columns of the matrix are divided by their sums.", example=10
    )


class Scope(Node):
    """Fields of the whole model, or of one stack."""

    vocab: Size | None = field(
        None, "How many tokens the vocabulary has.", example=32_000, unset="needed, unless the model reads an image"
    )
    d_model: Size | None = field(None, "The width of the residual stream.", example=512, unset="needed")
    heads: Size | None = field(None, "How many heads attention has.", example=8, unset="needed by attention")
    kv_heads: Size | None = field(
        None,
        "Heads that have keys and values of their own; fewer than `heads` is grouped-query attention, 1 is "
        "multi-query attention.",
        example=2,
        unset="heads",
    )
    head_dim: Size | None = field(None, "The width of one head.", example=64, unset="d_model / heads")
    bias: bool = field(
        True,
        "The linear layers of attention and FFN have biases. Norms, head and embedding have their own field.",
        example=False,
    )
    norm: Norm = field(Norm.model_construct(), "The norms of the blocks.", example="rms")
    position: Positions = field(
        (), "The position encoding, or a list of several.", example={"kind": "learned", "length": 1024}
    )
    parallel: Literal["shared", "separate"] | None = field(
        None,
        "The parts of a block stand side by side: with one norm for all (`shared`) or one each (`separate`).",
        example="shared",
        unset="one after the other",
    )
    beside: Literal["shared", "separate"] = field(
        "shared",
        "The norms of parts beside each other, such as `ffn+moe`: one for all (`shared`), or each part its own"
        " (`separate`), with one more behind their sum where the place is sandwich.",
        example="separate",
    )
    block_scale: bool = field(
        False, "A stored number, which is not trained, scales the output of every block.", example=True
    )
    streams: Streams | None = field(
        None,
        "Hyper-connections: the residual stream is several, mixed anew around each part.",
        example=4,
        unset="one stream",
    )
    residual_attention: bool = field(
        False,
        "What each part reads is a weighted sum of what earlier groups of blocks left (Kimi K3): a norm and a vector"
        " for each part, and one more behind the last block, whose parameters are counted and whose work is not.",
        example=True,
    )
    layer_scale: bool = field(False, "A learned vector scales the output of every part.", example=True)
    softmax: Literal["input", "fp32"] = field(
        "input", "The number format of eager softmax: that of the scores, or fp32 and cast back.", example="fp32"
    )
    dropout: Fraction = field(0.0, "The probability of dropout in training.", example=0.1)
    embedding: Embedding = field(
        Embedding.model_construct(),
        "What the model reads, and how it becomes vectors.",
        example={"kind": "patches", "image": 224, "patch": 16},
    )
    attention: Annotated[Any, SLOTS["attention"]] = field(None, "Self-attention.", example={"window": 4096})
    cross: Annotated[Any, SLOTS["cross"]] = field(None, "Attention of a decoder to the encoder.", example={"heads": 8})
    ffn: Annotated[Any, SLOTS["ffn"]] = field(
        None, "The feed-forward layer of a block.", example={"width": 2048, "act": "relu"}
    )
    moe: Annotated[Any, SLOTS["moe"]] = field(
        None, "A mixture of experts.", example={"experts": 8, "top": 2, "width": 1024}
    )
    mamba: Annotated[Any, SLOTS["mamba"]] = field(None, "A state-space layer.", example={"state": 16})
    delta: Annotated[Any, SLOTS["delta"]] = field(
        None,
        "A delta net: linear attention that writes to its state by the delta rule.",
        example={"heads": 16, "head_dim": 128},
    )
    rglru: Annotated[Any, SLOTS["rglru"]] = field(None, "Griffin's recurrent unit.", example={"heads": 8})
    lightning: Annotated[Any, SLOTS["lightning"]] = field(
        None, "Lightning attention: linear attention with a fixed decay for each head.", example={"heads": 8}
    )
    conv: Annotated[Any, SLOTS["conv"]] = field(None, "A convolution along the sequence.", example={"kernel": 3})
    per_layer: Annotated[Any, SLOTS["per_layer"]] = field(
        None,
        "Per-layer embeddings: for each token a vector of every block's own, which the block adds by a gate.",
        example={"width": 256},
    )
    variants: dict[str, dict[str, Any]] = field(
        {},
        "Parts that differ from another: a name, `like` which part it is, and what differs.",
        example={"local": {"like": "attention", "window": 4096}},
    )


class Stack(Scope):
    main: ClassVar[str] = "blocks"
    blocks: Size | None = field(None, "How many blocks the stack has.", example=12, unset="as many as the pattern has")
    pattern: Pattern | None = field(
        None,
        "What the blocks consist of: a line of part names for each, repeated until there are enough.",
        example=["5 × attention ffn", "ffn"],
        unset="[attention ffn], with cross between them in a decoder that reads an encoder",
    )
    distinct: Size | None = field(
        None, "Blocks that have weights of their own; the others use them again, as in ALBERT.", example=1, unset="all"
    )
    once: Words = field((), "Parts that exist once, beside the blocks.", example=["conv"])


class Spec(Scope, ModelSpec):
    family: Literal["transformer"] = field(
        "transformer",
        "What kind of model it is. The fields tell it where there are `parts`, a `cell` or a list of `layers`; any"
        " other spec that names none is a Transformer.",
        example="transformer",
    )
    spare: dict[str, Sizes] = field(
        {}, "Tensors that the class has and nothing reads: a name and a shape each.", example={"old_norm": [768]}
    )
    encoder: Stack | None = field(None, "A stack in which every position sees all others.", example=12)
    decoder: Stack | None = field(None, "A causal stack: a position sees itself and those before it.", example=12)
    head: Head = field(Head.model_construct(), "What stands on top of the last block.", example="tied")
    fused_qkv: bool = field(
        False,
        "A GGUF file stores queries, keys and values in one matrix, for which quantised mixtures have a rule.",
        example=True,
    )


SCOPE_FIELDS = tuple(Scope.model_fields)
