"""word2vec: a table of word vectors that is trained to tell which words stand near each other.

kind: skip-gram    the vector of a word scores each word around it; one sample is one pair of words
kind: cbow         the mean of the vectors around a word scores the word in their middle

output: softmax    scores over the whole vocabulary
output: negative   scores of the true word and of `negatives` drawn ones, each right or wrong by a sigmoid
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, ModuleGroup, Region, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.dims import vocab_of
from archcalc.layers.embedding import look_up, token_table
from archcalc.layers.linear import linear
from archcalc.layers.loss import cross_entropy
from archcalc.spec.defaults import Default
from archcalc.spec.gathering import needed, tell
from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import Size, field
from archcalc.spec.workload import Longest, Workload

SIDES = 2  # words are taken from both sides


class Spec(ModelSpec):
    """The fields of word2vec as written in a spec."""

    refused: ClassVar[frozenset[str]] = frozenset({"seq"})
    family: Literal["word2vec"] = field("word2vec", "The family of word2vec.", example="word2vec")
    kind: Literal["skip-gram", "cbow"] | None = field(
        None,
        "What predicts what: a word those around it (skip-gram), or those around it the word (cbow).",
        example="cbow",
        unset="needed",
    )
    vocab: Size | None = field(None, "How many words the vocabulary has.", example=30_000, unset="needed")
    embedding: Size | None = field(None, "The width of a word's vector.", example=300, unset="needed")
    window: Size = field(5, "How many words to each side count as near.", example=10)
    output: Literal["softmax", "negative"] = field(
        "softmax",
        "How words are scored: all of the vocabulary, or the true one and a few drawn ones.",
        example="negative",
        beside={"negatives": 5},
    )
    negatives: Size | None = field(
        None,
        "With `output: negative`: words that are drawn for each true one.",
        example=5,
        unset="needed by negative",
        beside={"output": "negative"},
    )


@dataclass(frozen=True)
class Word2vec:
    """Every value filled in."""

    kind: str
    vocab: int
    width: int
    window: int  # words to each side
    negatives: int  # that are drawn for each true word; 0: the whole vocabulary is scored

    @property
    def around(self) -> int:
        """Words to both sides together."""
        return SIDES * self.window

    @property
    def candidates(self) -> int:
        """That are scored, the true one included."""
        return 1 + self.negatives if self.negatives else 0

    @property
    def lengths(self) -> dict[str, Longest]:
        """A sample is a word and its window, not a sequence."""
        return {}


def resolve(spec: Spec) -> Word2vec:
    """Fills in defaults, or raises an error for what is missing."""
    if spec.kind is None:
        raise InputError("missing", "write `kind: skip-gram` or `kind: cbow`", fields=[("family",)], field="kind")
    if spec.seq:
        hint = "take it out; `batch` says how many samples are read at once"
        raise InputError("word2vec reads words with their window, not sequences", hint, fields=[("seq",)])
    vocab = needed(spec.vocab, "vocab", "give the number of words, such as `vocab: 30000`", ("family",))
    width = needed(spec.embedding, "embedding", "give the width of a word's vector: `embedding: 300`", ("family",))
    negatives = 0
    if spec.output == "negative":
        hint = "say how many words are drawn for each true one: `negatives: 5`"
        negatives = needed(spec.negatives, "negatives", hint, ("family",))
    elif spec.negatives:
        hint = "write `output: negative`, or take negatives out"
        tell(InputError("a softmax scores every word, and draws none", hint, fields=[("negatives",)]))
    return Word2vec(spec.kind, vocab, width, spec.window, negatives)


def defaults(spec: Spec, model: Word2vec) -> Iterator[Default]:
    """What it takes for fields that its spec leaves out."""
    yield Default(("window",), model.window, f"{model.window} words to each side")
    if not model.candidates:
        yield Default(("output",), "softmax", "softmax over the whole vocabulary")
    yield Default(("precision",), "fp32")


def build(model: Word2vec, work: Workload) -> Module:
    """Record the forward pass."""
    if work.decodes:
        hint = "use --mode train or prefill"
        raise InputError("word2vec generates no tokens, so it has no decode step", hint, field="--mode")
    root, batch = Module("model", style=work.style), Dim.of("batch", work.batch)
    text = f"a sample is a pair of words; each word of a text makes {model.around} pairs"
    if model.kind == "cbow":
        text = f"a sample is a word and the {model.around} around it"
    root.words.notes.append(Assumption(Topic.ARCHITECTURE, text))
    h = _vector(root.child("embedding", group=ModuleGroup.EMBEDDING), batch, model)
    scores = _scores(root.child("output", group=ModuleGroup.HEAD), h, model)
    if work.trains and model.candidates:
        loss = root.section(Region.LOSS)  # binary cross-entropy: 1 for the true word, 0 for each drawn one
        labels = Tensor(scores.axes, "act")
        loss.record("binary_cross_entropy", loss.record("sigmoid", scores), labels, to=())
    elif work.trains:
        cross_entropy(root, scores)
    return root


def _vector(m: Module, batch: Dim, model: Word2vec) -> Tensor:
    """The word's own vector, or the mean of those around it."""
    around = Dim.of("words_around", model.around)
    read = axes(batch, around) if model.kind == "cbow" else axes(batch)
    ids = m.record("ids", to=read, name="ids", note="the words around" if model.kind == "cbow" else "the word")
    width = Dim.of("embedding", model.width)
    found = look_up(m, ids, token_table(m, vocab_of(model.vocab), width))
    if model.kind != "cbow":
        return found
    return m.record("sum", found, to=axes(batch, width), over=(around,), name="mean", note="over all words around")


def _scores(m: Module, h: Tensor, model: Word2vec) -> Tensor:
    """By a second table: a vector for each word that is scored."""
    if not model.candidates:
        return linear(m, h, vocab_of(model.vocab), bias=False, role=Role.HEAD)
    batch, width = h.dims
    drawn = axes(batch, Dim.of("candidates", model.candidates))
    ids = m.record("ids", to=drawn, name="candidates", note="the true word, then the drawn ones")
    table = m.param("weight", vocab_of(model.vocab), width, role=Role.HEAD)
    vectors = look_up(m, ids, table)
    return m.record("contract", vectors, h, to=ids.axes, over=(width,), name="scores", note="u·v for each candidate")
