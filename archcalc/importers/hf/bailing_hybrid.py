"""Ling 3.0: MoE with Kimi Delta Attention, and some multi-head latent attention (MLA) with a gate for each head."""

from archcalc.importers.hf._helpers import Config, Fields, inert, kimi_like, rope, when
from archcalc.importers.hf._helpers.layer_types import LINEAR, every, mixers
from archcalc.importers.hf._helpers.moe import first_dense, listed, used

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads"}


def translate(c: Config) -> Fields:
    found = mixers(c, every(c, c.size("layer_group_size"), other=LINEAR), "delta")
    parts, position = listed(c, first_dense(c)), rope(c, c.size("qk_rope_head_dim"))
    made = used(c, parts, lambda: kimi_like.kimi_experts(c))
    sizes = {"kv_rank": "kv_lora_rank", "nope_dim": "qk_nope_head_dim", "rope_dim": "qk_rope_head_dim"}
    widths = {field: c.size(key) for field, key in {**sizes, "v_dim": "v_head_dim"}.items()}
    attention = {"kind": "mla", **widths, "gate": "head", "bias": c.flag("attention_bias")}
    turned = when("attention" in found, position=position)
    return kimi_like.kimi(c, found, parts, attention=attention, delta=_delta(c), **made, **turned)


def _delta(c: Config) -> Fields:
    """Sizes that the class derives from the attention sizes, unless the file has them."""
    return {
        "kind": "kda",
        "heads": c.size_or("linear_num_heads", c.size("num_attention_heads")),
        "head_dim": c.size_or("linear_head_dim", c.size("head_dim")),
        "conv": c.size_or("linear_conv_kernel_dim", c.size("short_conv_kernel_size")),
        "squeeze": False,
    }
