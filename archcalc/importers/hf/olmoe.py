"""OLMoE: QK norm over all heads together, MoE in every block."""

from archcalc.importers.hf._helpers import Config, Fields, Value, even_heads, head_dim, kv_heads
from archcalc.importers.hf._helpers.moe import experts, mixtral_like


def translate(c: Config) -> Fields:
    """The class sizes its QK norms by hidden_size, whatever the head size."""
    moe = experts(c, "num_experts", "intermediate_size")
    qk_norm: Value = "all"
    if head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        qk_norm = {"over": "all", "width": [c.size("hidden_size"), even_heads(c) * kv_heads(c)]}
        c.notes.append("QK norms have a different size than queries or keys: this model can be built but not run")
    return mixtral_like(c, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": qk_norm})
