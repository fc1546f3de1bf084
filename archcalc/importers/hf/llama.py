"""Llama, and those that differ from it in which biases can be switched on, or in nothing that is counted."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import Fields, biased, decoder, ffn, head_dim, window
from archcalc.importers.hf._helpers.reading import Config

TYPES = (
    *("llama", "mistral", "granite", "gemma", "phi3", "seed_oss", "ernie4_5", "arcee"),
    *("ministral3", "helium", "hyperclovax", "jais2", "nanochat", "hunyuan_v1_dense"),
    *("hunyuan_vl_text", "paddleocr_vl_text", "cosmos3_edge_text", "granite4_vision_text", "emu3_text_model"),
)
USUAL = "causal"
INERT = (
    "embedding_multiplier logits_scaling residual_multiplier attention_multiplier original_max_position_embeddings"
    " use_bidirectional_attention final_logit_softcapping"
)
NORMED = ("hunyuan_v1_dense", "hunyuan_vl_text", "nanochat")  # queries and keys
PLAIN = ("arcee", "jais2", "nanochat", "cosmos3_edge_text")  # an FFN without a gate


def translate(c: Config, task: str) -> Fields:
    bias = c.flag("attention_bias") or c.flag("use_bias")
    out = c.flag("attention_out_bias") if c.type == "seed_oss" else bias
    wide = ffn(c, bias=c.flag("mlp_bias") or c.flag("use_bias"), gated=c.type not in PLAIN)
    attention = {"bias": biased(qkv=bias, o=out and c.type != "helium"), **_qk_norm(c), **window(c)}
    if c.type == "helium" and head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        raise c.refused(
            "head_dim", "the class gives out hidden_size numbers of all heads, so that such a model cannot run"
        )
    first = {"norm": True} if c.type == "nanochat" else None
    return decoder(c, task, ffn=wide, attention=attention, norm=_norm(c), embedding=first)


def _norm(c: Config) -> Any:
    if c.type == "hyperclovax":
        return {"kind": "rms", "place": "sandwich"} if c.flag("use_post_norm") else "rms"
    return {"jais2": "layer", "nanochat": {"kind": "rms", "affine": False}}.get(c.type, "rms")


def _qk_norm(c: Config) -> Fields:
    return {"qk_norm": "head"} if c.type in NORMED else {}
