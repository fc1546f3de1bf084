"""FSMT, fairseq's translators: a vocabulary for each language, sinusoids kept as parameters."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("fsmt",)
USUAL = "seq2seq"
INERT = "head_dim num_key_value_heads scale_embedding langs num_beams length_penalty early_stopping max_length decoder"


def translate(c: Config, task: str) -> Fields:
    if task not in ("base", "seq2seq"):
        raise heads.refuse(c, task)
    tied, vocabularies = c.flag("tie_word_embeddings"), {c.size("src_vocab_size"), c.size("tgt_vocab_size")}
    if tied and len(vocabularies) > 1:
        raise c.refused("tie_word_embeddings", "one table for two vocabularies: such a model cannot run")
    padding = c.get("pad_token_id")
    length = c.size("max_position_embeddings") + padding + 1  # rows in front, up to that of padding, are used by none
    return {
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "norm": {"place": "post"},
        "position": {"kind": "sinusoidal", "length": length, "stored": True},
        "embedding": {"shared": True} if tied else None,
        "encoder": {"vocab": c.size("src_vocab_size"), **_stack(c, "encoder")},
        "decoder": {"vocab": c.size("tgt_vocab_size"), **_stack(c, "decoder")},
        "head": "tied" if tied else "lm",  # of the bare model too, which has one
    }


def _stack(c: Config, name: str) -> Fields:
    blocks, number = c.size(f"{name}_layers"), c.size(f"{name}_attention_heads")
    return {"blocks": blocks, "heads": number, "ffn": c.size(f"{name}_ffn_dim")}
