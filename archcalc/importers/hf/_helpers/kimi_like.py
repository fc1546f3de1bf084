"""Decoders with Kimi Delta Attention, some multi-head latent attention (MLA), and MoE."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, heads, where_used
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import experts


def kimi(c: Config, mixers: list[str], parts: list[str], *, attention: Fields, delta: Fields, **more: Value) -> Fields:
    """`attention` and `delta` are omitted if no block has them."""
    fields = {
        "kv_heads": None,
        "head_dim": None,
        **where_used(mixers, attention=lambda: attention, delta=lambda: delta),
        "position": None,
        "decoder": paired(mixers, parts),
        "head": _own_head(c),
    }
    return decoder(c, **{**fields, **more})


def _own_head(c: Config) -> Value:
    """The class never ties its head to the token embedding."""
    if c.flag("tie_word_embeddings"):
        c.notes.append("tie_word_embeddings is true, but Kimi Linear in transformers always has an untied head")
    if c.task == "causal":
        return "lm"
    return heads.of_decoder(c)


def kimi_experts(c: Config) -> Fields:
    return experts(c, "num_local_experts", shared="n_shared_experts", correction=True)
