"""Granite 4: Mamba 2 layers with a few attention layers; a shared FFN in every block, plus experts in MoE models."""

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    activation,
    decoder,
    head_dim,
    inert,
    mamba_layers,
    rope,
    where_used,
)
from archcalc.importers.hf._helpers.layer_types import FULL, HYBRID, LINEAR, layer_types, paired
from archcalc.importers.hf._helpers.moe import mixture

INERT = {inert.NO_SUCH_SIZE: "mamba_d_head"}

_MIXERS = {LINEAR: "mamba", FULL: "attention"}


def translate(c: Config) -> Fields:
    usual = [LINEAR] * c.size("num_hidden_layers")
    mixers = [_MIXERS[layer] for layer in layer_types(c, usual, known=HYBRID)]
    number = c.count("num_local_experts")
    part, position = "ffn", None
    if number:
        part = "moe"
    if "attention" in mixers and c.given("position_embedding_type") == "rope":
        position = rope(c, head_dim(c))
    fields = decoder(
        c,
        **where_used(
            mixers, attention=lambda: {"bias": c.flag("attention_bias")}, mamba=lambda: mamba_layers.bamba_layer(c)
        ),
        **where_used([part], ffn=lambda: _ffn(c), moe=lambda: _experts(c, number)),
        position=position,
        decoder=paired(mixers, [part] * len(mixers)),
    )
    c.skip("intermediate_size", "num_experts_per_tok")
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta", "hidden_act")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields


def _ffn(c: Config) -> Fields:
    return {"width": c.size("shared_intermediate_size"), "act": activation(c), "gated": True}


def _experts(c: Config, number: int) -> Fields:
    return mixture(c, number, c.size("intermediate_size"), shared=c.count("shared_intermediate_size"))
