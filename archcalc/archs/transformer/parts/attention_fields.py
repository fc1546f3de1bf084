"""Attention as a spec writes it: the fields of `attention` and `cross`, of every kind."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.archs.transformer.nodes import Fraction, Norm, Positions, flag_or
from archcalc.layers.kernel import FEATURES
from archcalc.spec.node import Node, Size, as_size, merged, mistake


def _bias(value: Any) -> Any:
    letters = ("q", "k", "v", "o")
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and value and all(item in letters for item in value):
        return tuple(value)
    raise mistake("expected true, false or a list of q, k, v, o")


_LETTERS = {"type": "array", "items": {"enum": ["q", "k", "v", "o"]}}
AttentionBias = Annotated[Any, BeforeValidator(_bias), WithJsonSchema({"anyOf": [{"type": "boolean"}, _LETTERS]})]


Feature = Literal[*FEATURES]  # type: ignore[valid-type]


_GATE_SCHEMA = {"enum": [True, False, "own", "head"]}
Gate = Annotated[Any, BeforeValidator(flag_or("own", "head")), WithJsonSchema(_GATE_SCHEMA)]


def _widths(value: Any) -> Any:
    sizes = value if isinstance(value, list | tuple) and len(value) == 2 else [value]
    return tuple(as_size(size) for size in sizes)


_WIDTH = {"type": "integer", "minimum": 1}
_WIDTHS_SCHEMA = {"anyOf": [_WIDTH, {"type": "array", "items": _WIDTH, "minItems": 2, "maxItems": 2}]}
Widths = Annotated[tuple[int, ...], BeforeValidator(_widths), WithJsonSchema(_WIDTHS_SCHEMA)]


class QKNormSaid(Node):
    """QK norm; missing fields are inherited from the model's norm."""

    main: ClassVar[str] = "over"
    over: Literal["head", "heads", "all"] = "head"
    kind: Literal["layer", "rms"] | None = None
    bias: bool | None = None
    affine: bool | None = None
    width: Widths | None = None  # of its weights, or [q, k], where a class does not make them as wide as its heads


class Index(Node):
    """The indexer of sparse attention, which selects the `top` positions to attend to."""

    main: ClassVar[str] = "top"
    heads: Size | None = None
    head_dim: Size | None = None
    top: Size | None = None


_EVERY_KIND = frozenset({"heads", "bias", "position", "dropout", "norm"})
_SIZES = frozenset({"kv_heads", "head_dim", "v_dim", "window", "chunk", "memory"})
_TURNS = frozenset({"feature", "qk_norm", "sinks", "gate", "out_norm", "softcap", "global_qkv", "experts", "top"})


class Attention(Node):
    main: ClassVar[str] = "heads"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "attention": _EVERY_KIND | _SIZES | _TURNS,
        "mla": _EVERY_KIND | {"q_rank", "kv_rank", "nope_dim", "rope_dim", "v_dim", "index", "gate"},
    }
    kind: Literal["attention", "mla"] = "attention"
    heads: Size | None = None
    kv_heads: Size | None = None
    head_dim: Size | None = None
    bias: AttentionBias | None = None
    position: Positions | None = None
    dropout: Fraction | None = None  # of the weights that scores become; unsaid: as everywhere in the model
    feature: Feature | None = None
    qk_norm: QKNormSaid | None = None
    window: Size | None = None  # positions that are looked at, the own one included
    chunk: Size | None = None  # only positions of the same chunk are looked at
    sinks: bool = False  # a learned score for each head that no position has
    gate: Gate = False  # on what was looked up, from a query projection of twice the width, or from one of its own
    out_norm: bool = False  # one more norm, in front of the output projection
    softcap: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None  # cap · tanh(scores / cap)
    global_qkv: bool = False  # second projections, for tokens that see everything: kept here, used by none
    experts: Size | None = None  # that have queries and an output projection each
    top: Size | None = None  # of them, for each token
    q_rank: Size | None = None  # mla: width that queries are squeezed to; unsaid: not squeezed
    kv_rank: Size | None = None  # mla: width that keys and values are squeezed to, and cached at
    nope_dim: Size | None = None  # mla: width of a head's queries and keys without position
    rope_dim: Size | None = None  # mla: width that is rotated, and added to those
    v_dim: Size | None = None  # width of a head's values; head_dim, where it is not said
    index: Index | None = None  # mla: what chooses the positions that are looked at
    memory: Size | None = None  # cross: the width of what it reads, where the spec has no encoder
    norm: Norm | None = None


def as_cross(attention: Attention | None, cross: Attention) -> Attention:
    """Biases and dropout apply to self- and cross-attention, unless cross-attention overrides them."""
    if attention is None:
        return cross
    shared = {"bias", "dropout"} & attention.model_fields_set
    base = {name: getattr(attention, name) for name in shared if attention.kind == "attention"}
    return merged(Attention.model_construct(_fields_set=set(base), **base), cross)
