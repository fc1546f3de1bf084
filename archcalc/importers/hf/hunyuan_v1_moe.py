"""Hunyuan, Aria and FlexOlmo: experts in every block, beside a shared one in the first two."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("hunyuan_v1_moe", "aria_text", "flex_olmo")
USUAL = "causal"
INERT = "norm_topk_prob eod_token_id"

_QK_NORM = {"hunyuan_v1_moe": {"qk_norm": "head"}, "flex_olmo": {"qk_norm": "all"}}


def translate(c: Config, task: str) -> Fields:
    return decoder(
        c,
        task,
        ffn=None,
        moe=_experts(c),
        attention={"bias": c.flag("attention_bias"), **_QK_NORM.get(c.type, {})},
        norm={"kind": "rms", "place": "out"} if c.type == "flex_olmo" else "rms",
        decoder=stack(["attention moe"] * c.size("num_hidden_layers")),
    )


def _experts(c: Config) -> Fields:
    width = c.size("intermediate_size")
    if c.type == "aria_text":
        shared = c.count("moe_num_shared_experts") * width
        bias = c.flag("mlp_bias")
        return mixture(c, c.size("moe_num_experts"), width, shared=shared, shared_bias=bias, per_token="moe_topk")
    return mixture(c, c.size("num_experts"), width, shared=width if c.type == "hunyuan_v1_moe" else 0)
