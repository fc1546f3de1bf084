"""Decoders built like Gemma 2: optional attention logit soft-capping, a GELU-gated FFN."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import decoder, ffn
from archcalc.importers.hf._helpers.reading import Config, Fields, when


def gemma_like(c: Config, task: str, *, qk_norm: str = "", **more: Any) -> Fields:
    cap = c.get("attn_logit_softcapping")
    capped = when(cap, softcap=cap and float(cap))
    attention = {"bias": c.flag("attention_bias"), **when(qk_norm, qk_norm=qk_norm), **capped}
    return decoder(c, task, attention=attention, ffn=ffn(c, act="hidden_activation"), **more)
