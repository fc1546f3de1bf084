"""Phi MoE: experts in every block, LayerNorm, optional bias on the LM head."""

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, window
from archcalc.importers.hf._helpers.moe import mixtral_like, mixture


def translate(c: Config) -> Fields:
    number, width = c.size("num_local_experts"), c.size("intermediate_size")
    if c.get("num_experts_per_tok") == 2:
        moe = mixture(c, number, width)
    else:
        c.notes.append("transformers' PhiMoE ignores num_experts_per_tok: its router always selects two experts")
        moe = {"experts": number, "top": min(2, number), "width": width, "act": activation(c)}
    return mixtral_like(
        c,
        moe,
        attention={"bias": c.flag("attention_bias"), **window(c)},
        norm="layer",
        head=heads.of_decoder(c, bias=c.flag("lm_head_bias")),
    )
