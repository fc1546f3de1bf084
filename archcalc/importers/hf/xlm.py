"""XLM and FlauBERT: BERTs that may know their language, with a plain head."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("xlm", "flaubert")
USUAL = "masked"
INERT = (
    "head_dim num_key_value_heads unk_index mask_index bos_index eos_index pad_index start_n_top end_n_top lang_id"
    " summary_type summary_activation is_encoder"
)


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("emb_dim"), c.size("n_heads")
    if c.flag("asm") and task in ("masked", "causal"):
        raise c.refused("asm")
    length, fixed = c.size("max_position_embeddings"), c.flag("sinusoidal_embeddings")
    languages = c.size("n_langs") if c.flag("use_lang_emb") and c.size("n_langs") > 1 else 0
    c.skip("n_langs")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "ffn": {"width": 4 * d_model, "act": "gelu" if c.flag("gelu_activation") else "relu"},
        "norm": {"final": False} if c.flag("pre_norm") else {"place": "post"},
        "position": {"kind": "sinusoidal", "length": length, "stored": True}
        if fixed
        else {"kind": "learned", "length": length},
        "embedding": {"norm": True, "types": languages},
        "decoder" if c.flag("causal") else "encoder": c.size("n_layers"),
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Any:
    labels = heads.labels(c)
    tied, used = c.flag("tie_word_embeddings"), c.flag("summary_use_proj")
    to_labels = c.flag("summary_proj_to_labels")
    one = {"kind": "classifier", "bias": True}
    if task == "base":
        return "none"
    if task in ("masked", "causal"):
        return {"kind": "tied" if tied else "lm", "bias": True}
    if task == "sequence" and used:
        return {**one, "classes": labels if to_labels else c.size("emb_dim"), "pool": "class"}
    if task in ("token", "answer"):
        return {**one, "classes": labels}
    if task == "choice" and used and to_labels:
        return {**one, "classes": 1, "pool": "class", "hidden": labels, "act": "identity"}
    raise heads.refuse(c, task)
