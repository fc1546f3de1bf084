"""Longformer: RoBERTa with sliding-window attention, and second q, k, v projections for global attention."""

from __future__ import annotations

from archcalc.importers.hf._helpers import bert_like, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.longformer_like import windows
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("longformer",)
USUAL = "masked"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
    inert.RUNNING: "onnx_export",
    inert.TOKENS: "sep_token_id",
}


def translate(c: Config, task: str) -> Fields:
    attention, variants, blocks = windows(c, c.size("num_hidden_layers"))
    return {
        **bert_like.encoder(c),
        "attention": attention,
        "norm": bert_like.POST_NORM,
        "position": bert_like.positions_behind_padding(c),
        "embedding": bert_like.typed(c),
        "variants": variants,
        "encoder": blocks,
        "head": bert_like.head(c, task, {"hidden": c.size("hidden_size")}),
    }
