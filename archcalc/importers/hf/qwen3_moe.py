"""Qwen 3 MoE, also inside multimodal models: QK norm; decoder_sparse_step and mlp_only_layers choose dense blocks."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, qwen_like, when
from archcalc.importers.hf._helpers.layer_types import paired

TYPES = ("qwen3_moe", "qwen3_vl_moe_text", "qwen3_omni_moe_text")
INERT = {inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config) -> Fields:
    moe = qwen_like.plain_experts(c)
    parts = qwen_like.sparse_parts(c, moe["experts"])
    window = c.choose("use_sliding_window", c.given("sliding_window"), None)
    local = when(window, window=window)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", **local},
        **qwen_like.dense_and_sparse(c, parts, moe),
        decoder=paired(["attention"] * len(parts), parts),
    )
