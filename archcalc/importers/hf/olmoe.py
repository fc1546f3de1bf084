"""OLMoE: QK norm over all heads together, MoE in every block."""

from archcalc.importers.hf._helpers import Config, Fields, Value, even_heads, head_dim, kv_heads
from archcalc.importers.hf._helpers.moe import experts, mixtral_like


def translate(c: Config) -> Fields:
    moe = experts(c, "num_experts", "intermediate_size")
    return mixtral_like(c, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": _qk_norm(c)})


def _qk_norm(c: Config) -> Value:
    """The class sizes its QK norms by hidden_size, whatever the head size."""
    if head_dim(c) * c.size("num_attention_heads") == c.size("hidden_size"):
        return "all"
    widths = [c.size("hidden_size"), even_heads(c) * kv_heads(c)]
    c.notes.append("QK norms have a different size than queries or keys: this model can be built but not run")
    return {"over": "all", "width": widths}
