"""Llama with bidirectional attention."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, head_dim, heads, inert, local_rope, rope
from archcalc.importers.hf._helpers.layer_types import FULL, full, layer_types, sliding

USUAL = "masked"
INERT = {
    "eurobert": {inert.SUMMARY: "classifier_pooling"},
    "ultrabert": {inert.TRAINING: "prediction_head_size", inert.SUMMARY: "classifier_pooling"},
}


def eurobert(c: Config) -> Fields:
    """EuroBERT: Llama with bidirectional attention."""
    c.skip("tie_word_embeddings")
    fields = {**bert_like.llama_encoder(c), "encoder": c.size("num_hidden_layers")}
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    table: heads.Table = {
        "base": heads.none,
        "masked": lambda: _language(c),
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class", **hidden),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return {**fields, "head": heads.for_task(c, table)}


def _language(c: Config) -> Value:
    kind = heads.tied_or_own(c)
    return c.choose("mlp_bias", {"kind": kind, "bias": True}, kind)  # one key for both, in its class


def ultrabert(c: Config) -> Fields:
    """UltraBERT: Llama with bidirectional attention; some blocks use sliding windows with their own RoPE base."""
    local = local_rope(c, head_dim(c))
    found = sliding(c, layer_types(c, full(c)), c.size_or("sliding_window", 0) or None, **local)
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class"),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return {
        **bert_like.llama_encoder(c),
        "position": rope(c, head_dim(c), layer=FULL),
        "variants": found["variants"],
        "encoder": found["decoder"],
        "head": heads.for_task(c, table),
    }
