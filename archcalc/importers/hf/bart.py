"""BART and its relatives: encoder-decoders that differ in where norms stand and how positions are kept."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf import heads
from archcalc.importers.hf.blocks import Fields
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import activation

TYPES = ("bart", "mbart", "pegasus", "marian", "m2m_100", "blenderbot")
USUAL = "seq2seq"
INERT = (
    "scale_embedding is_decoder encoder_no_repeat_ngram_size head_dim num_key_value_heads normalize_before"
    " normalize_embedding add_final_layer_norm add_bias_logits static_position_embeddings"
    " force_bos_token_to_be_generated extra_pos_embeddings num_hidden_layers classif_dropout"
)


def translate(c: Config, task: str) -> Fields:
    alone = task == "causal"
    vocab, decoder_vocab = c.size("vocab_size"), _decoder_vocab(c)
    tied = c.flag("tie_word_embeddings")
    c.skip("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim", "share_encoder_decoder_embeddings")
    return {
        "vocab": vocab if not alone else decoder_vocab,
        "d_model": c.size("d_model"),
        "cross": {"memory": c.size("d_model")} if alone else None,
        "ffn": {"act": activation(c, "activation_function")},
        "norm": {"place": "post"} if c.type in ("bart", "marian") else None,
        "position": _position(c),
        "embedding": _embedding(c, tied, alone),
        "encoder": None if alone else _stack(c, "encoder"),
        "decoder": {**_stack(c, "decoder", alone=alone), **_other(vocab, decoder_vocab, alone)},
        "head": _head(c, task, tied),
    }


def _stack(c: Config, name: str, *, alone: bool = False) -> Fields:
    blocks, number = c.size(f"{name}_layers"), c.size(f"{name}_attention_heads")
    fields: Fields = {"blocks": blocks, "heads": number, "ffn": c.size(f"{name}_ffn_dim")}
    return {**fields, "pattern": ["attention cross ffn"]} if alone else fields


def _other(vocab: int, decoder_vocab: int, alone: bool) -> Fields:
    return {"vocab": decoder_vocab} if decoder_vocab != vocab and not alone else {}


def _decoder_vocab(c: Config) -> int:
    vocab = c.size("vocab_size")
    if c.type != "marian":
        return vocab
    return c.get("decoder_vocab_size") or vocab


def _position(c: Config) -> Fields:
    length = c.size("max_position_embeddings")
    if c.type in ("pegasus", "marian"):
        return {"kind": "sinusoidal", "length": length, "stored": True}
    if c.type == "m2m_100":
        return {"kind": "sinusoidal", "length": length}
    return {"kind": "learned", "length": length, **({"offset": 2} if c.type in ("bart", "mbart") else {})}


def _embedding(c: Config, tied: bool, alone: bool) -> Fields:
    """Tied, there is one table; untied, each stack has its own, and a third one is kept that nothing reads."""
    norm = {"norm": True} if c.type in ("bart", "mbart") else {}
    if alone:
        return norm
    shares = c.flag("share_encoder_decoder_embeddings") if c.type == "marian" else True
    if c.type == "marian" and not shares:
        return norm
    return {**norm, **({"shared": True} if tied else {"spare": True})}


def _head(c: Config, task: str, tied: bool) -> Any:
    labels = heads.labels(c, 3 if c.type == "bart" else 2)
    if task == "base":
        return "none"
    if task in ("seq2seq", "causal"):
        return "tied" if tied else "lm"
    if task == "sequence":
        hidden = c.size("d_model")
        return {"kind": "classifier", "classes": labels, "bias": True, "pool": "last", "hidden": hidden}
    if task == "answer":
        return {"kind": "classifier", "classes": labels, "bias": True}
    raise heads.refuse(c, task)
