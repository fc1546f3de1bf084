"""BART and its relatives: encoder-decoders that differ in where norms stand and how positions are kept."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = (
    *("bart", "mbart", "pegasus", "marian", "m2m_100", "blenderbot", "blenderbot-small", "plbart"),
    *("mvp", "bigbird_pegasus"),
)
_POST = ("bart", "marian", "blenderbot-small", "plbart", "mvp")
_OFFSET = ("bart", "mbart", "plbart", "mvp")
_NORMED = ("bart", "mbart", "blenderbot-small", "plbart", "mvp")
USUAL = "seq2seq"
INERT = (
    "scale_embedding is_decoder encoder_no_repeat_ngram_size head_dim num_key_value_heads normalize_before"
    " normalize_embedding add_final_layer_norm add_bias_logits static_position_embeddings"
    " force_bos_token_to_be_generated extra_pos_embeddings classif_dropout prompt_length prompt_mid_dim"
    " block_size num_random_blocks"
)


def translate(c: Config, task: str) -> Fields:
    alone, tied = task == "causal", c.flag("tie_word_embeddings")
    vocab, decoder_vocab = c.size("vocab_size"), _decoder_vocab(c, task, tied)
    c.skip("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim")
    other = {"vocab": decoder_vocab} if decoder_vocab != vocab and not alone else {}
    return {
        "vocab": decoder_vocab if alone else vocab,
        "d_model": c.size("d_model"),
        "cross": {"memory": c.size("d_model")} if alone else None,
        "ffn": {"act": activation(c, "activation_function")},
        "attention": _attention(c),
        "norm": {"place": "post"} if c.type in _POST else None,
        "position": _position(c),
        "embedding": _embedding(c, tied, alone),
        "encoder": None if alone else _stack(c, "encoder"),
        "decoder": {**_stack(c, "decoder", alone=alone), **other},
        "head": _head(c, task, tied, vocab if decoder_vocab != vocab and (alone or _shares(c)) else None),
    }


def _attention(c: Config) -> Fields | None:
    """BigBird's looks at blocks of a long text, without biases."""
    if c.type != "bigbird_pegasus":
        return None
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, as the class computes short texts")
    return {"bias": c.flag("use_bias")}


def _shares(c: Config) -> bool:
    """Marian may have a table for each side; all others share theirs."""
    return c.type != "marian" or c.flag("share_encoder_decoder_embeddings")


def _decoder_vocab(c: Config, task: str, tied: bool) -> int:
    """Marian's decoder may have a vocabulary of its own, unless its table is the encoder's."""
    vocab, shares = c.size("vocab_size"), _shares(c)
    own = c.size_or("decoder_vocab_size", vocab) if c.type == "marian" else vocab
    return vocab if shares and tied and task != "causal" else own


def _stack(c: Config, name: str, *, alone: bool = False) -> Fields:
    blocks, number = c.size(f"{name}_layers"), c.size(f"{name}_attention_heads")
    fields: Fields = {"blocks": blocks, "heads": number, "ffn": c.size(f"{name}_ffn_dim")}
    return {**fields, "pattern": ["attention cross ffn"]} if alone else fields


def _position(c: Config) -> Fields:
    length = c.size("max_position_embeddings")
    if c.type in ("pegasus", "marian"):
        return {"kind": "sinusoidal", "length": length, "stored": True}
    if c.type == "m2m_100":
        return {"kind": "sinusoidal", "length": length}
    return {"kind": "learned", "length": length, **({"offset": 2} if c.type in _OFFSET else {})}


def _embedding(c: Config, tied: bool, alone: bool) -> Fields:
    """Tied, there is one table; untied, each stack has its own, and a third one is kept that nothing reads."""
    norm = {"norm": True} if c.type in _NORMED else {}
    if alone:
        return norm
    if not _shares(c):
        return norm
    return {**norm, **({"shared": True} if tied else {"spare": True})}


def _head(c: Config, task: str, tied: bool, other_vocab: int | None) -> Any:
    """`other_vocab`: an untied Marian's head keeps vocab_size, whatever its decoder reads."""
    labels = heads.labels(c, 3 if c.type == "bart" else 2)
    if task == "base":
        return "none"
    if task in ("seq2seq", "causal"):
        alone = task == "causal" and c.type == "bigbird_pegasus"  # whose head is never tied then
        return "tied" if tied and not alone else {"kind": "lm", "vocab": other_vocab} if other_vocab else "lm"
    if task == "sequence":
        hidden = c.size("d_model")
        return {"kind": "classifier", "classes": labels, "bias": True, "pool": "last", "hidden": hidden}
    if task == "answer":  # the class itself sets two labels: where an answer starts, and where it ends
        return {"kind": "classifier", "classes": 2, "bias": True}
    raise heads.refuse(c, task)
