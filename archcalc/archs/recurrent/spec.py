"""The fields of recurrent nets as written in a spec.

One stack is written at the top; an `encoder` and a `decoder` make a sequence-to-sequence model, and `attention` joins
them. Fields at the top apply to both, unless one of them overrides them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.spec.node import ModelSpec, Node, OneOrMore, Size, as_size, as_tuple, mistake, shown

ONE_HOT = "one-hot"  # in place of an embedding's width: tokens come in as one-hot vectors, without a table
Fraction = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


def _widths(value: Any) -> Any:
    """One width for all layers, or a list with a width for each."""
    if not isinstance(value, list | tuple):
        return as_size(value)
    if not value:
        raise mistake("expected a width, or a list of widths such as [1150, 1150, 400]")
    return tuple(as_size(width) for width in value)


def _lower(value: Any) -> Any:
    """Cells are abbreviations: `LSTM` is as good as `lstm`."""
    return value.lower() if isinstance(value, str) else value


def _width_or_one_hot(value: Any) -> Any:
    return ONE_HOT if value in (ONE_HOT, "one_hot", "onehot") else as_size(value)


def _both_ways(value: Any) -> Any:
    if isinstance(value, bool) or value == "first":
        return value
    raise mistake(f"expected true, false or first, found {shown(value)}")


_WIDTH = {"type": "integer", "minimum": 1}
_WIDTHS_SCHEMA = {"anyOf": [_WIDTH, {"type": "array", "items": _WIDTH, "minItems": 1}]}
Widths = Annotated[int | tuple[int, ...], BeforeValidator(_widths), WithJsonSchema(_WIDTHS_SCHEMA)]
_BOTH_WAYS_SCHEMA = {"anyOf": [{"type": "boolean"}, {"const": "first"}]}
BothWays = Annotated[Any, BeforeValidator(_both_ways), WithJsonSchema(_BOTH_WAYS_SCHEMA)]
_ONE_HOT_SCHEMA = {"anyOf": [_WIDTH, {"const": ONE_HOT}]}
WidthOrOneHot = Annotated[Any, BeforeValidator(_width_or_one_hot), WithJsonSchema(_ONE_HOT_SCHEMA)]
Cell = Annotated[Literal["lstm", "gru", "rnn"], BeforeValidator(_lower)]


class Embedding(Node):
    """The token table: `embedding: 100`. `bias` is the textbook's one-hot · W + b.

    `embedding: one-hot` has no table: the first layer reads vectors as wide as the vocabulary.
    """

    main: ClassVar[str] = "width"
    width: WidthOrOneHot | None = None
    bias: bool = False
    shared: bool = False  # one table for source and target


class Scope(Node):
    """Fields of one stack of recurrent layers, or at the top for both."""

    vocab: Size | None = None
    embedding: Embedding = Embedding()
    input: Size | None = None  # the width of vectors that come in instead of tokens
    cell: Cell | None = None
    hidden: Widths | None = None
    layers: Size | None = None
    bidirectional: BothWays = False  # `first`: the first layer alone (GNMT)
    biases: Literal["one", "two", "keras", "none"] | None = None
    projection: Size | None = None  # LSTMP: the state is projected to this width
    peephole: bool = False  # the gates of an LSTM see its cell
    residual: Size | None = None  # the first layer that adds its input to its output (GNMT: 3)
    dropout: Fraction = 0.0


class Stack(Scope):
    main: ClassVar[str] = "layers"


class Decoder(Stack):
    start: Literal["zeros", "encoder"] | None = None  # unsaid: zeros with attention, else the encoder's last states


class Attention(Node):
    """How the decoder attends to the encoder's states.

    score   dot: qᵀk; general: qᵀWk; additive: vᵀtanh(Wq + Uk); concat: vᵀtanh(W[q; k]);
            location: Wq, one score for each of `length` positions, whatever stands there
    when    before: h⟨t−1⟩ → α → c → h⟨t⟩; after: h⟨t⟩ → α → c → h̃⟨t⟩ = tanh(W_c[c; h⟨t⟩]);
            between: the first layer's h⟨t⟩ → α → c → the layers above (GNMT)
    """

    main: ClassVar[str] = "score"
    score: Literal["dot", "general", "additive", "concat", "location"] | None = None
    width: Size | None = None  # of W and U in additive and concat
    length: Size | None = None  # with location: the positions of the source, which W has a row for
    when: Literal["before", "after", "between"] | None = None  # unsaid: before for additive and concat, else after
    feed: bool = False  # with `after`: h̃⟨t−1⟩ joins the next input (Luong's input feeding)
    bias: bool = False  # of its linear layers
    normed: bool = False  # with additive: v = g·v/‖v‖, and a bias inside the tanh


class Pool(Node):
    """One vector for the whole sequence, from the outputs of the top layer at every position.

    last        the last state, of both directions side by side
    mean, sum, max    over all positions
    attention   Σ α·h with α = softmax(score): without a width the score is vᵀh, with one it is vᵀtanh(W·h + b)
    each        no pooling: every position is classified
    """

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {"attention": frozenset({"width", "bias", "heads"})}
    kind: Literal["last", "mean", "sum", "max", "attention", "each"] = "last"
    width: Size | None = None  # inside the tanh
    bias: bool = False  # of W
    heads: Size = 1  # vectors v, whose sums stand side by side


class Head(Node):
    """The output head. In textbooks z = W_y·a + b_y, so it has a bias by default."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "lm": frozenset({"bias", "vocab"}),
        "tied": frozenset({"bias"}),
        "classifier": frozenset({"bias", "classes", "pool"}),
        "none": frozenset({"pool"}),
    }
    kind: Literal["lm", "tied", "classifier", "none"] = "lm"
    bias: bool = True
    vocab: Size | None = None
    classes: Size | None = None
    pool: Annotated[tuple[Pool, ...], BeforeValidator(as_tuple), OneOrMore()] = ()  # several stand side by side


class Spec(Scope, ModelSpec):
    family: Literal["recurrent"] = "recurrent"
    encoder: Stack | None = None
    decoder: Decoder | None = None
    attention: Attention | None = None
    head: Head = Head()


SCOPE_FIELDS = tuple(Scope.model_fields)
