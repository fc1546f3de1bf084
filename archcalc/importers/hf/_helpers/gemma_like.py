"""Decoders built like Gemma 2: optional attention logit soft-capping, a GELU-gated FFN."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, ffn, when


def gemma(c: Config, *, qk_norm: str = "", **more: Value) -> Fields:
    cap = c.get("attn_logit_softcapping")
    capped = when(cap, softcap=cap and float(cap))
    attention = {"bias": c.flag("attention_bias"), **when(qk_norm, qk_norm=qk_norm), **capped}
    return decoder(c, attention=attention, ffn=ffn(c, act="hidden_activation"), **more)
