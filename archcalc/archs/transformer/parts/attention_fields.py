"""Attention as a spec writes it: the fields of `attention` and `cross`, of every kind."""

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.archs.transformer.nodes import Fraction, Norm, Sides, flag_or, flag_or_some
from archcalc.archs.transformer.positions import Positions
from archcalc.layers.attention import FEATURES
from archcalc.spec.node import Node, Size, as_size, field, merged

_LETTERS = ("q", "k", "v", "o")
_SOME_SCHEMA = {"type": "array", "items": {"enum": list(_LETTERS)}}
AttentionBias = Annotated[
    Any,
    BeforeValidator(partial(flag_or_some, _LETTERS)),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, _SOME_SCHEMA]}),
]
OWN = "own"
Feature = Literal[*FEATURES]  # type: ignore[valid-type]


_GATE_SCHEMA = {"enum": [True, False, "own", "head"]}
Gate = Annotated[Any, BeforeValidator(partial(flag_or, ("own", "head"))), WithJsonSchema(_GATE_SCHEMA)]


def _widths(value: Any) -> Any:
    sizes = value if isinstance(value, list | tuple) and len(value) == 2 else [value]
    return tuple(as_size(size) for size in sizes)


_WIDTH = {"type": "integer", "minimum": 1}
_WIDTHS_SCHEMA = {"anyOf": [_WIDTH, {"type": "array", "items": _WIDTH, "minItems": 2, "maxItems": 2}]}
Widths = Annotated[tuple[int, ...], BeforeValidator(_widths), WithJsonSchema(_WIDTHS_SCHEMA)]


class HeadNormSaid(Node):
    """A norm of heads; missing fields are inherited from the model's norm."""

    main: ClassVar[str] = "over"
    over: Literal["head", "heads", "all"] = field(
        "head",
        "What is normalised: each `head` with one vector for all, each of the `heads` with a vector of its "
        "own, or `all` heads as one vector.",
        example="all",
    )
    kind: Literal["layer", "rms"] | None = field(None, "The kind of norm.", example="rms", unset="that of the model")
    bias: bool | None = field(None, "It has a bias.", example=False, unset="as the model's norms")
    affine: bool | None = field(None, "It has learned scales.", example=False, unset="as the model's norms")


class QKNormSaid(HeadNormSaid):
    """QK norm."""

    width: Widths | None = field(
        None,
        "The width of its weights, or [q, k], where a class makes them wider than what it normalises.",
        example=[128, 64],
        unset="that of what it normalises",
    )


class Index(Node):
    """The indexer of sparse attention, which selects the `top` positions to attend to."""

    main: ClassVar[str] = "top"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("heads", "head_dim", "top")}
    heads: Size | None = field(None, "The indexer's heads.", example=64, unset="needed")
    head_dim: Size | None = field(None, "The width of each of them.", example=128, unset="needed")
    top: Size | None = field(
        None, "How many positions it selects, or compressed entries.", example=2048, unset="needed"
    )


class BlockIndex(Node):
    """The indexer of block-sparse attention, which selects the `top` blocks of keys to attend to."""

    main: ClassVar[str] = "top"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("heads", "head_dim", "top", "block")}
    heads: Size | None = field(None, "The indexer's heads.", example=4, unset="needed")
    head_dim: Size | None = field(None, "The width of each of them.", example=128, unset="needed")
    top: Size | None = field(None, "How many blocks it selects.", example=16, unset="needed")
    block: Size | None = field(None, "How many keys a block has.", example=128, unset="needed")


class Compress(Node):
    """How positions behind the window become entries: so many to one."""

    main: ClassVar[str] = "rate"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("rate",)}
    rate: Size | None = field(None, "How many positions make one entry.", example=128, unset="needed")
    overlap: bool = field(False, "Each entry is made of twice as many positions, which have two vectors.", example=True)
    index: Index | None = field(
        None,
        "An indexer, which selects the entries that a query looks at.",
        example={"heads": 64, "head_dim": 128, "top": 512},
        unset="all entries",
    )


_EVERY_KIND = frozenset({"heads", "bias", "position", "dropout", "norm"})
_SIZES = frozenset({"kv_heads", "head_dim", "v_dim", "window", "windows", "chunk", "memory"})
_KEYS = frozenset({"v_norm", "values", "kv_of"})
_TURNS = frozenset(
    {"feature", "qk_norm", "sinks", "gate", "out_norm", "softcap", "global_qkv", "experts", "top", "block_index"}
)


class Attention(Node):
    main: ClassVar[str] = "heads"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "attention": _EVERY_KIND | _SIZES | _KEYS | _TURNS,
        "mla": _EVERY_KIND | {"q_rank", "kv_rank", "nope_dim", "rope_dim", "v_dim", "index", "gate"},
        "compressed": _EVERY_KIND | {"head_dim", "q_rank", "rope_dim", "window", "out_groups", "out_rank", "compress"},
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {
        "mla": ("kv_rank", "nope_dim", "rope_dim", "v_dim"),
        "compressed": ("q_rank", "window", "out_groups", "out_rank"),
    }
    kind: Literal["attention", "mla", "compressed"] = field(
        "attention",
        "Softmax attention, multi-head latent attention (`mla`), or one head of keys that are values too, in a window "
        "and of compressed positions behind it (`compressed`).",
        example="mla",
    )
    heads: Size | None = field(None, "How many heads it has.", example=8, unset="heads of the model")
    kv_heads: Size | None = field(
        None, "Heads that have keys and values of their own.", example=2, unset="kv_heads of the model, or heads"
    )
    head_dim: Size | None = field(
        None, "The width of one head.", example=64, unset="head_dim of the model, or d_model / heads"
    )
    bias: AttentionBias | None = field(
        None,
        "Its projections have biases: true, false, or a list of those that do.",
        example=["q", "k", "v"],
        unset="bias of the model",
    )
    position: Positions | None = field(None, "Its position encoding.", example="none", unset="position of the model")
    dropout: Fraction | None = field(
        None, "The probability of dropout on the attention weights.", example=0.1, unset="dropout of the model"
    )
    feature: Feature | None = field(
        None, "Kernel attention instead of softmax, with this feature map.", example="elu", unset="softmax"
    )
    qk_norm: QKNormSaid | None = field(None, "Norms on queries and keys.", example="head", unset="none")
    v_norm: HeadNormSaid | None = field(
        None, "A norm of values.", example={"over": "head", "affine": False}, unset="none"
    )
    values: Literal["own", "keys"] = field(
        "own",
        "Values have a projection of their `own`, or are the `keys`, as these are before norm and positions.",
        example="keys",
    )
    kv_of: str = field(
        OWN,
        "Whose keys and values it reads: its `own`, or those of the last block before it that has the attention of this"
        " name. Then it has no projections for them, and no cache.",
        example="local",
    )
    window: Size | None = field(
        None,
        "A sliding window: how many positions are attended to, the own one included.",
        example=4096,
        unset="all positions",
    )
    chunk: Size | None = field(
        None, "Only positions of the same chunk of this length are attended to.", example=8192, unset="all positions"
    )
    windows: Sides | None = field(
        None,
        "Attention among the patches of a window of an image: how many rows and columns of them, one number or [rows,"
        " columns]. Windows at the edges may be smaller.",
        example=8,
        unset="all patches",
    )
    sinks: bool = field(
        False, "Attention sinks: a learned score for each head that belongs to no position.", example=True
    )
    gate: Gate = field(
        False,
        "A gate on the result: true (from a query projection of twice the width), `own` (from a projection of"
        " its own) or `head` (one number for each head).",
        example="own",
    )
    out_norm: bool = field(False, "One more norm, in front of the output projection.", example=True)
    softcap: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = field(
        None, "Scores are capped: cap · tanh(scores / cap).", example=50.0, unset="no cap"
    )
    global_qkv: bool = field(
        False,
        "Second projections for tokens with global attention, as in Longformer; no token is taken to be global.",
        example=True,
    )
    experts: Size | None = field(
        None,
        "A mixture of attention heads: experts with queries and an output projection each.",
        example=8,
        unset="none",
        beside={"kv_heads": 4, "bias": False, "top": 2},
    )
    top: Size | None = field(
        None,
        "How many of those experts a token uses.",
        example=2,
        unset="needed with experts",
        beside={"kv_heads": 4, "bias": False, "experts": 8},
    )
    q_rank: Size | None = field(
        None,
        "Latent attention: the width that queries are projected down to first.",
        example=1536,
        unset="they are not",
    )
    kv_rank: Size | None = field(
        None,
        "Latent attention: the width of the vector that keys and values are projected from, which is cached.",
        example=512,
        unset="needed by mla",
    )
    nope_dim: Size | None = field(
        None,
        "Latent attention: the width of a head's queries and keys without position.",
        example=128,
        unset="needed by mla",
    )
    rope_dim: Size | None = field(
        None,
        "Latent attention: the width of a head's queries and keys that is rotated, and cached.",
        example=64,
        unset="needed by mla",
    )
    v_dim: Size | None = field(None, "The width of a head's values.", example=128, unset="head_dim; needed by mla")
    index: Index | None = field(
        None,
        "Latent attention: an indexer, a small attention that selects the positions which the large one attends to.",
        example={"heads": 64, "head_dim": 128, "top": 2048},
        unset="all positions",
        beside={"q_rank": 1536},
    )
    block_index: BlockIndex | None = field(
        None,
        "An indexer that selects the blocks of keys which are attended to.",
        example={"heads": 4, "head_dim": 128, "top": 16, "block": 128},
        unset="all positions",
    )
    out_groups: Size | None = field(
        None,
        "Compressed attention: how many groups of heads have a projection to a narrow vector each.",
        example=8,
        unset="needed by compressed",
    )
    out_rank: Size | None = field(
        None, "Compressed attention: the width of these vectors.", example=1024, unset="needed by compressed"
    )
    compress: Compress | None = field(
        None,
        "Compressed attention: what becomes of the positions behind the window.",
        example={"rate": 128},
        unset="they are not looked at",
    )
    memory: Size | None = field(
        None,
        "Cross-attention: the width of what it attends to, where the spec has no encoder.",
        example=1024,
        unset="d_model of the encoder",
        under="cross",
    )
    norm: Norm | None = field(None, "The norm of this part.", example="rms", unset="norm of the model")


def as_cross(attention: Attention | None, cross: Attention) -> Attention:
    """Biases and dropout apply to self- and cross-attention, unless cross-attention overrides them."""
    if attention is None:
        return cross
    shared = {"bias", "dropout"} & attention.model_fields_set
    base = {name: getattr(attention, name) for name in shared if attention.kind == "attention"}
    return merged(Attention.model_construct(_fields_set=set(base), **base), cross)
