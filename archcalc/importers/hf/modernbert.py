"""ModernBERT: a gated FFN, local and full attention in turns, no norm in front of the first block."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, layer_types, stacked
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation, rope

TYPES = ("modernbert",)
USUAL = "masked"
INERT = (
    "classifier_pooling classifier_activation deterministic_flash_attn sparse_prediction sparse_pred_ignore_index"
    " head_dim num_key_value_heads global_attn_every_n_layers compile reference_compile repad_logits_with_grad"
    " embedding_dropout layer_norm_eps"
)


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    every = c.given("global_attn_every_n_layers") or 3
    usual = ["sliding_attention" if block % every else "full_attention" for block in range(c.size("num_hidden_layers"))]
    words, variants = _words(c, layer_types(c, usual))
    act = activation(c, "hidden_activation")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "attention": {"bias": c.flag("attention_bias")},
        "ffn": {"width": c.size("intermediate_size"), "act": act, "gated": True, "bias": c.flag("mlp_bias")},
        "norm": {"bias": c.flag("norm_bias")},
        "position": rope(c, d_model // number, layer="full_attention", theta=c.given("global_rope_theta") or 160_000.0),
        "embedding": {"norm": True},
        "variants": variants,
        "encoder": stacked([f"{word} ffn" for word in words]),
        "head": _head(c, task),
    }


def _words(c: Config, layers: list[str]) -> tuple[list[str], Fields]:
    """The first block goes without its norm: the embedding has one already."""
    if not set(layers) <= {"sliding_attention", "full_attention"}:
        raise c.refused("layer_types")
    said = c.given("rope_parameters") or {}
    theta = (said.get("sliding_attention") or {}).get("rope_theta") or c.given("local_rope_theta") or 10_000
    local = {"window": c.size("local_attention"), "position": {"kind": "rope", "theta": float(theta)}}
    words = ["local" if layer == "sliding_attention" else "attention" for layer in layers]
    first = {"like": "attention", **(local if words[0] == "local" else {}), "norm": "none"}
    words[0] = "first"
    return words, {"first": first, **({"local": {"like": "attention", **local}} if "local" in words else {})}


def _head(c: Config, task: str) -> Any:
    tied = c.flag("tie_word_embeddings")
    dense = {"transform": True, "transform_bias": c.flag("classifier_bias")}
    bias = c.flag("decoder_bias")
    if task == "base":
        return "none"
    if task == "masked":
        return {"kind": "tied" if tied else "lm", "bias": bias, **dense}
    if task in ("sequence", "token", "answer"):
        pool = {"pool": "mean" if c.given("classifier_pooling") == "mean" else "class"} if task == "sequence" else {}
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True, **pool, **dense}
    if task == "choice":
        return {"kind": "classifier", "classes": 1, "bias": True, "pool": "class", **dense}
    raise heads.refuse(c, task)
