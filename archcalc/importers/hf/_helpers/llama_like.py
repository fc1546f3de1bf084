"""Decoders built like Llama: families set only their biases and norms."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, biased, decoder, ffn, when, window


def llama(c: Config, *, out_bias: bool | None = None, gated: bool = True, qk_norm: str = "", **more: Value) -> Fields:
    """`out_bias` is that of the output projection, if it differs; `more` are the fields that a family adds."""
    bias = c.flag("attention_bias") or c.flag("use_bias")
    if out_bias is None:
        out_bias = bias
    wide = ffn(c, bias=c.flag("mlp_bias") or c.flag("use_bias"), gated=gated)
    attention = {"bias": biased(qkv=bias, o=out_bias), **when(qk_norm, qk_norm=qk_norm), **window(c)}
    return decoder(c, ffn=wide, attention=attention, **more)
