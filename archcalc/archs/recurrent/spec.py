"""The fields of recurrent nets as written in a spec.

One stack is written at the top; an `encoder` and a `decoder` make a sequence-to-sequence model, and `attention` joins
them. Fields at the top apply to both, unless one of them overrides them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import Node, OneOrMore, Size, Widths, as_size, as_tuple, field, mistake, shown

ONE_HOT = "one-hot"  # in place of an embedding's width: tokens come in as one-hot vectors, without a table
Fraction = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


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
    width: WidthOrOneHot | None = field(
        None,
        "The width of a token's vector; `one-hot`: there is no table, and the first layer reads one-hot vectors.",
        example=100,
        unset="needed, unless vectors come in",
    )
    bias: bool = field(False, "A bias on the table, as in the textbook's one-hot · W + b.", example=True)
    shared: bool = field(False, "Encoder and decoder use one table.", example=True)


class Scope(Node):
    """Fields of one stack of recurrent layers, or at the top for both."""

    vocab: Size | None = field(
        None, "How many tokens the vocabulary has.", example=20_000, unset="needed, unless vectors come in"
    )
    embedding: Embedding = field(Embedding(), "The token table: the width of its vectors, or more fields.", example=100)
    input: Size | None = field(
        None, "The width of vectors that come in instead of tokens.", example=8, unset="tokens come in"
    )
    cell: Cell | None = field(None, "The recurrent cell.", example="lstm", unset="needed")
    hidden: Widths | None = field(
        None, "The width of the state: one for all layers, or a list with one for each.", example=128, unset="needed"
    )
    layers: Size | None = field(
        None, "How many layers are stacked.", example=2, unset="1, or as many as hidden has widths"
    )
    bidirectional: BothWays = field(
        False, "A second net reads the sequence backwards: in every layer, or in the `first` alone.", example=True
    )
    biases: Literal["one", "two", "keras", "none"] | None = field(
        None,
        "Biases of each gate: `one` (textbooks), `two` (PyTorch), `keras` (its GRU, reset after) or `none`.",
        example="two",
        unset="one",
    )
    projection: Size | None = field(
        None, "The state of an LSTM is projected to this width (LSTMP).", example=64, unset="it is not"
    )
    peephole: bool = field(False, "The gates of an LSTM see its cell.", example=True)
    residual: Size | None = field(None, "The first layer that adds its input to its output.", example=3, unset="none")
    dropout: Fraction = field(0.0, "The probability of dropout between layers, in training.", example=0.2)


class Stack(Scope):
    main: ClassVar[str] = "layers"


class Decoder(Stack):
    start: Literal["zeros", "encoder"] | None = field(
        None,
        "The state that the decoder starts from: zeros, or the encoder's last states.",
        example="encoder",
        unset="zeros with attention, else the encoder's last states",
    )


class Attention(Node):
    """How the decoder attends to the encoder's states.

    score   dot: qᵀk; general: qᵀWk; additive: vᵀtanh(Wq + Uk); concat: vᵀtanh(W[q; k]);
            location: Wq, one score for each of `length` positions, whatever stands there
    when    before: h⟨t−1⟩ → α → c → h⟨t⟩; after: h⟨t⟩ → α → c → h̃⟨t⟩ = tanh(W_c[c; h⟨t⟩]);
            between: the first layer's h⟨t⟩ → α → c → the layers above (GNMT)
    """

    main: ClassVar[str] = "score"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("score",)}
    score: Literal["dot", "general", "additive", "concat", "location"] | None = field(
        None,
        "How a query is compared with a key: dot qᵀk, general qᵀWk, additive vᵀtanh(Wq + Uk), concat "
        "vᵀtanh(W[q; k]), location Wq.",
        example="general",
        unset="needed",
    )
    width: Size | None = field(
        None,
        "The width inside the tanh of additive and concat.",
        example=512,
        unset="needed by additive and concat",
        beside={"score": "additive"},
    )
    length: Size | None = field(
        None,
        "With location: the positions of the source, each of which W has a row for.",
        example=50,
        unset="needed by location",
        beside={"score": "location"},
    )
    when: Literal["before", "after", "between"] | None = field(
        None,
        "When the decoder attends: `before` its step, `after` it, or `between` its first layer and the others.",
        example="after",
        unset="before for additive and concat, else after",
    )
    feed: bool = field(False, "With `after`: what was attended to joins the next input (input feeding).", example=True)
    bias: bool = field(False, "Its linear layers have biases.", example=True)
    normed: bool = field(
        False,
        "With additive: v = g·v/‖v‖, and a bias inside the tanh.",
        example=True,
        beside={"score": "additive", "width": 512},
    )


class Pool(Node):
    """One vector for the whole sequence, from the outputs of the top layer at every position.

    last        the last state, of both directions side by side
    mean, sum, max    over all positions
    attention   Σ α·h with α = softmax(score): without a width the score is vᵀh, with one it is vᵀtanh(W·h + b)
    each        no pooling: every position is classified
    """

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {"attention": frozenset({"width", "bias", "heads"})}
    kind: Literal["last", "mean", "sum", "max", "attention", "each"] = field(
        "last",
        "How the states of all positions become one vector: the last, mean, sum, max, a sum weighted by "
        "attention, or `each` position by itself.",
        example="mean",
    )
    width: Size | None = field(
        None, "The width inside the tanh of attention pooling.", example=64, unset="no tanh: the score is vᵀh"
    )
    bias: bool = field(False, "W of attention pooling has a bias.", example=True, needs="width")
    heads: Size = field(1, "Vectors v of attention pooling, whose sums stand side by side.", example=4)


class Head(Node):
    """The output head. In textbooks z = W_y·a + b_y, so it has a bias by default."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "lm": frozenset({"bias", "vocab"}),
        "tied": frozenset({"bias"}),
        "classifier": frozenset({"bias", "classes", "pool"}),
        "none": frozenset({"pool"}),
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"classifier": ("classes",)}
    kind: Literal["lm", "tied", "classifier", "none"] = field(
        "lm",
        "What is on top: `lm` (scores for every token, by a matrix of its own), `tied` (by the token table), "
        "`classifier` or `none`.",
        example="classifier",
    )
    bias: bool = field(True, "A bias on the output.", example=False)
    vocab: Size | None = field(
        None,
        "Tokens that the head predicts, where they are not those of the token table.",
        example=20_000,
        unset="vocab",
    )
    classes: Size | None = field(None, "How many classes a classifier has.", example=2, unset="needed by a classifier")
    pool: Annotated[tuple[Pool, ...], BeforeValidator(as_tuple), OneOrMore()] = field(
        (), "What is classified; several stand side by side.", example="attention", unset="the last state"
    )


class Spec(Scope, ModelSpec):
    family: Literal["recurrent"] = field("recurrent", "The family of recurrent nets.", example="recurrent")
    encoder: Stack | None = field(None, "The stack that reads the source.", example={"layers": 2})
    decoder: Decoder | None = field(None, "The stack that writes the target.", example={"layers": 2})
    attention: Attention | None = field(
        None,
        "How the decoder attends to the encoder's states.",
        example={"score": "additive", "width": 512},
        unset="it does not",
    )
    head: Head = field(Head(), "What stands on top of the last layer.", example={"kind": "classifier", "classes": 2})


SCOPE_FIELDS = tuple(Scope.model_fields)
