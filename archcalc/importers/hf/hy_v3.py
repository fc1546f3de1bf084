"""Hunyuan 3: QK norm, one dense block first, then MoE blocks with routed and shared experts."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import experts, listed, one_dense_first, used


def translate(c: Config) -> Fields:
    parts, bias = listed(c, one_dense_first(c)), c.flag("mlp_bias")
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: _experts(c, bias=bias), lambda: ffn(c, bias=bias)),
        decoder=paired(["attention"] * len(parts), parts),
    )


def _experts(c: Config, *, bias: bool) -> Fields:
    return experts(c, "num_experts", shared="num_shared_experts", shared_bias=bias, correction=True)
