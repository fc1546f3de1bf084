"""Mixtral and others with MoE in every block, which differ in what else a block has."""

from archcalc.importers.hf._helpers import Config, Fields, Value, when, window
from archcalc.importers.hf._helpers.moe import experts, mixtral_like

_ARIA = {"number": "moe_num_experts", "shared": "moe_num_shared_experts", "per_token": "moe_topk"}
TYPES: dict[str, Fields] = {
    "aria_text": _ARIA,
    "flex_olmo": {"number": "num_experts", "qk_norm": "all", "norm": {"kind": "rms", "place": "out"}},
    "granitemoe": {},
    "granitemoeshared": {"shared_width": "shared_intermediate_size"},
    "hunyuan_v1_moe": {"number": "num_experts", "qk_norm": "head", "shared_width": "intermediate_size"},
    "minimax_m2": {"qk_norm": "all", "correction": True},
    "mixtral": {},
}


def translate(
    c: Config, *, number: str = "num_local_experts", qk_norm: str = "", norm: Value = "rms", **sizes: Value
) -> Fields:
    """`number` and `sizes` are the keys of the experts' sizes."""
    moe = experts(c, number, "intermediate_size", shared_bias=c.flag("mlp_bias"), **sizes)
    attention = {"bias": c.flag("attention_bias"), **when(qk_norm, qk_norm=qk_norm), **window(c)}
    return mixtral_like(c, moe, attention=attention, norm=norm)
