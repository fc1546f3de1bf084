"""Hunyuan 3: QK norm, one dense block first, then MoE blocks with routed and shared experts."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import experts, listed, one_dense_first, used


def translate(c: Config) -> Fields:
    parts, bias = listed(c, one_dense_first(c)), c.flag("mlp_bias")
    shared: Fields = {"shared": "num_shared_experts", "shared_bias": bias}
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "num_experts", **shared, correction=True), lambda: ffn(c, bias=bias)),
        decoder=paired(["attention"] * len(parts), parts),
    )
