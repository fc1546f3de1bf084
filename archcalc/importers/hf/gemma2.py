"""Gemma 2 and 3: norms before and behind each branch, local and full attention in turns, capped scores; VaultGemma."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, every, ffn, head_dim, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import local_theta, rope

TYPES = ("gemma2", "gemma3_text", "vaultgemma")
USUAL = "causal"
INERT = "query_pre_attn_scalar final_logit_softcapping use_bidirectional_attention sliding_window_pattern"


def translate(c: Config, task: str) -> Fields:
    third = c.type == "gemma3_text"
    attention: Fields = {"bias": c.flag("attention_bias"), **({"qk_norm": "head"} if third else {})}
    if cap := c.get("attn_logit_softcapping"):
        attention["softcap"] = float(cap)
    period = (c.given("sliding_window_pattern") or 6) if third else 2
    position: Fields = {}
    local: Fields = {}
    if third:
        position = {"position": rope(c, head_dim(c), layer="full_attention", theta=1_000_000.0)}
        local = {"position": {"kind": "rope", "theta": local_theta(c)}} if head_dim(c) % 2 == 0 else {}
    layers = layer_types(c, every(c, period))
    found = decoder(
        c,
        task,
        attention=attention,
        ffn=ffn(c, act="hidden_activation"),
        norm="rms" if c.type == "vaultgemma" else {"kind": "rms", "place": "sandwich"},
        **position,
        **sliding(c, layers, c.given("sliding_window"), **local),
    )
    return _both_ways(found) if third and c.flag("use_bidirectional_attention") else found


def _both_ways(said: Fields) -> Fields:
    """EmbeddingGemma sees what comes later too, half a window on each side: an encoder, which keeps no cache."""
    return {"encoder" if name == "decoder" else name: value for name, value in said.items()}
