"""Hunyuan 3: QK norm, one dense block first, then MoE blocks with routed and shared experts."""

from archcalc.importers.hf._helpers.blocks import decoder, ffn
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import listed, mixture, one_dense_first, used
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    parts, bias = listed(c, one_dense_first(c)), c.flag("mlp_bias")
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: _experts(c, bias=bias), lambda: ffn(c, bias=bias)),
        decoder=paired(["attention"] * len(parts), parts),
    )


def _experts(c: Config, *, bias: bool) -> Fields:
    width = c.size("moe_intermediate_size")
    shared = c.count("num_shared_experts") * width
    return mixture(c, c.size("num_experts"), width, shared=shared, shared_bias=bias, correction=True)
