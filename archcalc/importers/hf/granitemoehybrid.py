"""Granite 4: Mamba 2 with some attention; an FFN in every block, beside experts where there are any."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, head_dim, layer_types
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation, rope
from archcalc.importers.hf.bamba import mamba

TYPES = ("granitemoehybrid",)
USUAL = "causal"
INERT = (
    "embedding_multiplier logits_scaling residual_multiplier attention_multiplier time_step_limit mamba_d_head"
    " position_embedding_type"
)

_KNOWN = {"linear_attention": "mamba", "full_attention": "attention"}


def translate(c: Config, task: str) -> Fields:
    layers = layer_types(c, ["linear_attention"] * c.size("num_hidden_layers"))
    if not set(layers) <= set(_KNOWN):
        raise c.refused("layer_types")
    mixers = [_KNOWN[layer] for layer in layers]
    there, number = "attention" in mixers, c.count("num_local_experts")
    part = "moe" if number else "ffn"
    fields = decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias")} if there else None,
        ffn=None if number else {"width": c.size("shared_intermediate_size"), "act": activation(c), "gated": True},
        moe=_experts(c, number) if number else None,
        mamba=mamba(c) if "mamba" in mixers else None,
        position=rope(c, head_dim(c)) if there and c.given("position_embedding_type") == "rope" else None,
        decoder=stack([f"{mixer} {part}" for mixer in mixers]),
    )
    if not number:
        c.skip("intermediate_size", "num_experts_per_tok")
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta", "hidden_act")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields


def _experts(c: Config, number: int) -> Fields:
    return mixture(c, number, c.size("intermediate_size"), shared=c.count("shared_intermediate_size"))
