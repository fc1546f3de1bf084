"""Encoders built like BERT: their shared sizes, blocks and heads. Families set only what differs."""

from __future__ import annotations

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    activation,
    attention,
    divided,
    ffn,
    head_dim,
    heads,
    rope,
)
from archcalc.importers.hf._helpers.layer_types import stack

POST_NORM = {"place": "post"}
POOLER = {"pooler": True}  # a dense layer on the first token
MOST_PADDING = 1024  # rows in front of a table of positions that a file may ask for


def pooled() -> Fields:
    """The bare model, with a pooler on the first token."""
    return {"kind": "none", **POOLER}


def with_pooler(head: Fields) -> Fields:
    """A head of a class that has the pooler in any case; most heads have it already."""
    if "pooler" in head or "beside" in head:
        return head
    return {**head, "beside": pooled()}


def bert(c: Config, *, embedding: Fields | None = None, encoder: Value = None, **changes: Value) -> Fields:
    """BERT itself: post-norm blocks behind an embedding of tokens and token types; `changes` go on top.

    `encoder` is the stack of classes that are never a decoder."""
    stack = {"encoder": encoder} if encoder else blocks(c)
    return {**sizes(c), "norm": POST_NORM, "embedding": embedding or typed(c), **stack, **changes}


def sizes(c: Config) -> Fields:
    """Sizes, a non-gated FFN, and learned positions."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": divided(c, d_model, number),
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
        "position": {"kind": "learned", "length": c.size("max_position_embeddings")},
    }


def positions_behind_padding(c: Config) -> Fields:
    """RoBERTa's position ids start after padding_idx, so the rows up to there are never used."""
    rows, padding = c.size("max_position_embeddings"), c.given("pad_token_id")
    if not isinstance(padding, int) or not 0 <= padding < min(rows - 1, MOST_PADDING):
        return {"kind": "learned", "length": rows}
    return {"kind": "learned", "length": rows - padding - 1, "offset": padding + 1}


def blocks(c: Config) -> Fields:
    """Bidirectional blocks; with is_decoder they are causal, with optional cross-attention."""
    blocks = c.size("num_hidden_layers")
    if not c.flag("is_decoder"):
        return {"encoder": blocks}
    if not c.flag("add_cross_attention"):
        return {"decoder": blocks}
    return {"cross": {"memory": c.size("hidden_size")}, "decoder": stack(["attention cross ffn"] * blocks)}


def typed(c: Config, **more: Value) -> Fields:
    """An embedding of tokens and token types, followed by a norm."""
    return {"norm": True, "types": c.count("type_vocab_size"), **more}


def language(c: Config, *, twice: bool = True) -> Fields:
    """The masked-LM head: dense layer, norm, tied decoder with bias; `twice`: untied classes have a second bias."""
    return transformed(c.flag("tie_word_embeddings"), twice)


def language_and_pair(c: Config, classes: int = 2) -> Fields:
    """BERT's pretraining heads: masked LM and next-sentence prediction."""
    return {**language(c), "beside": pair(classes)}


def pair(classes: int) -> Fields:
    """The next-sentence prediction head."""
    return heads.classifier(classes, pool="class", **POOLER)


def classifiers(c: Config, dense: Fields, choice: Fields = POOLER) -> heads.Table:
    """Heads for sequence classification (with `dense`), token classification, question answering, multiple choice."""
    return {
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class", **dense),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.labels(c)),
        "choice": lambda: heads.classifier(1, pool="class", **choice),
        "next": lambda: pair(2),
    }


def head(c: Config, dense: Fields, own: heads.Table | None = None) -> Value:
    """The heads that most families share, with a family's own ones in `own`."""
    c.skip("tie_word_embeddings")
    language_models = {"masked": lambda: language(c), "causal": lambda: language(c)}
    table = {"base": pooled, **language_models, "pretraining": lambda: language_and_pair(c), **classifiers(c, dense)}
    return heads.for_task(c, {**table, **(own or {})})


def transformed(tied: bool, twice: bool) -> Fields:
    """A dense layer and a norm in front of the LM head; `twice`: its bias, where it is untied."""
    if tied:
        return {"kind": "tied", "bias": True, "transform": True}
    return {"kind": "lm", "bias": {True: "twice", False: True}[twice], "transform": True}


def llama_encoder(c: Config) -> Fields:
    """Llama's sizes, for classes with bidirectional attention."""
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("hidden_size"),
        **attention(c),
        "attention": {"bias": c.flag("attention_bias")},
        "ffn": ffn(c, bias=c.flag("mlp_bias")),
        "norm": "rms",
        "bias": False,
        "position": rope(c, head_dim(c)),
    }
