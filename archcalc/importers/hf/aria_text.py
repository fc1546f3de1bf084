"""Text model of Aria: routed and shared experts in every block."""

from archcalc.importers.hf._helpers.mixtral_like import mixtral_like
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    width, number = c.size("intermediate_size"), c.size("moe_num_experts")
    shared, bias = c.count("moe_num_shared_experts") * width, c.flag("mlp_bias")
    moe = mixture(c, number, width, shared=shared, shared_bias=bias, per_token="moe_topk")
    return mixtral_like(c, task, moe, attention={"bias": c.flag("attention_bias")})
