"""Encoder-decoders built like BART: one shared token embedding. Families set norm placement and positions."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, heads, inert, when

INERT = {
    inert.NO_SUCH_SIZE: "extra_pos_embeddings",
    inert.ORDER: "normalize_before normalize_embedding add_final_layer_norm static_position_embeddings",
    inert.NOT_HERE: "is_decoder",
    inert.UNREAD: "add_bias_logits",
}

POST_NORM = {"place": "post"}
OFFSET = 2  # rows in front of BART's table of positions that no token uses


def bart(c: Config, *, embedding_norm: bool = False, **more: Value) -> Fields:
    """`more` is what a family adds or has differently; a decoder alone looks at what another model read."""
    norm = when(embedding_norm, norm=True)
    c.skip("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim")
    usual: Fields = {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "embedding": norm,
    }
    if c.task == "causal":
        looking = {**stack_of(c, "decoder"), "pattern": ["attention cross ffn"]}
        usual |= {"cross": {"memory": c.size("d_model")}, "decoder": looking}
    else:
        usual |= {"embedding": {**norm, **shared_table(c)}}
        usual |= {name: stack_of(c, name) for name in ("encoder", "decoder")}
    return {**usual, "head": head(c), **more}


def shared_table(c: Config) -> Fields:
    """Tied, there is one table; untied, each stack has its own, and a third one is kept that nothing reads."""
    return {c.choose("tie_word_embeddings", "shared", "spare"): True}


def stack_of(c: Config, name: str) -> Fields:
    blocks, number = c.size(f"{name}_layers"), c.size(f"{name}_attention_heads")
    return {"blocks": blocks, "heads": number, "ffn": c.size(f"{name}_ffn_dim")}


def positions(c: Config, kind: str, **more: Value) -> Fields:
    return {"kind": kind, "length": c.size("max_position_embeddings"), **more}


def head(c: Config, causal: Callable[[], Value] | None = None) -> Value:
    """`causal` builds the head of the decoder-only class, if it differs from the default."""
    labels = heads.labels(c)
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "seq2seq": lambda: heads.tied_or_own(c),
        "causal": causal or (lambda: heads.tied_or_own(c)),
        "sequence": lambda: heads.classifier(labels, pool="last", hidden=c.size("d_model")),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return heads.for_task(c, table)
