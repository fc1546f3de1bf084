"""Text model of Aria: routed and shared experts in every block."""

from archcalc.importers.hf._helpers import Config, Fields
from archcalc.importers.hf._helpers.moe import experts, mixtral_like


def translate(c: Config) -> Fields:
    keys = {"number": "moe_num_experts", "width": "intermediate_size", "shared": "moe_num_shared_experts"}
    moe = experts(c, **keys, shared_bias=c.flag("mlp_bias"), per_token="moe_topk")
    return mixtral_like(c, moe, attention={"bias": c.flag("attention_bias")})
