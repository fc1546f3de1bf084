"""Granite 4: Mamba 2 layers with a few attention layers; a shared FFN in every block, plus experts in MoE models."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, head_dim, inert, mamba_layers, rope, where_used
from archcalc.importers.hf._helpers.layer_types import LINEAR, mixers, paired
from archcalc.importers.hf._helpers.moe import mixture

INERT = {inert.NO_SUCH_SIZE: "mamba_d_head"}


def translate(c: Config) -> Fields:
    found = mixers(c, [LINEAR] * c.size("num_hidden_layers"), "mamba")
    number = c.count("num_local_experts")
    part, position = "ffn", None
    if number:
        part = "moe"
    if "attention" in found and c.given("position_embedding_type") == "rope":
        position = rope(c, head_dim(c))
    fields = decoder(
        c,
        **where_used(
            found, attention=lambda: {"bias": c.flag("attention_bias")}, mamba=lambda: mamba_layers.bamba_layer(c)
        ),
        **where_used([part], ffn=lambda: ffn(c, "shared_intermediate_size"), moe=lambda: _experts(c, number)),
        position=position,
        decoder=paired(found, [part] * len(found)),
    )
    c.skip("intermediate_size", "num_experts_per_tok")
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta", "hidden_act")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields


def _experts(c: Config, number: int) -> Fields:
    return mixture(c, number, c.size("intermediate_size"), shared=c.count("shared_intermediate_size"))
