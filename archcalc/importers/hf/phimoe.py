"""Phi MoE: experts in every block, LayerNorm, optional bias on the LM head."""

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, window
from archcalc.importers.hf._helpers.moe import mixtral_like, mixture


def translate(c: Config) -> Fields:
    return mixtral_like(
        c,
        _experts(c),
        attention={"bias": c.flag("attention_bias"), **window(c)},
        norm="layer",
        head=heads.of_decoder(c, bias=c.flag("lm_head_bias")),
    )


def _experts(c: Config) -> Fields:
    """The router always selects two experts, whatever the file says."""
    number, width = c.size("num_local_experts"), c.size("intermediate_size")
    if c.get("num_experts_per_tok") == 2:
        return mixture(c, number, width)
    c.notes.append("transformers' PhiMoE ignores num_experts_per_tok: its router always selects two experts")
    return {"experts": number, "top": min(2, number), "width": width, "act": activation(c)}
