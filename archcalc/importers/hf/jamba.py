"""Jamba: Mamba layers with a few attention layers, MoE in some blocks, no position embeddings."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, inert, mamba_layers, where_used
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import mixture, sparse_where

INERT = {inert.USUAL_LAYERS: "layers_block_type layer_types"}


def translate(c: Config) -> Fields:
    experts = c.size("num_experts")
    words = {True: "attention", False: "mamba"}
    mixers = [words[_falls(c, "attn", block)] for block in range(c.size("num_hidden_layers"))]
    parts = sparse_where(c, lambda block: _falls(c, "expert", block) and experts > 1)
    fields = decoder(
        c,
        **where_used(parts, ffn=lambda: ffn(c), moe=lambda: mixture(c, experts, c.size("intermediate_size"))),
        **where_used(mixers, mamba=lambda: _mamba(c)),
        position=None,
        decoder=paired(mixers, parts),
    )
    c.skip("max_position_embeddings", "num_experts_per_tok", "hidden_act")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields


def _falls(c: Config, what: str, block: int) -> bool:
    return block % c.size(f"{what}_layer_period") == c.count(f"{what}_layer_offset")


def _mamba(c: Config) -> Fields:
    width = c.size("hidden_size")
    return {
        "inner": c.size("mamba_expand") * width,
        "state": c.size("mamba_d_state"),
        "conv": c.size("mamba_d_conv"),
        "dt_rank": mamba_layers.dt_rank(c, "mamba_dt_rank"),
        "bias": c.flag("mamba_proj_bias"),
        "conv_bias": c.flag("mamba_conv_bias"),
        "norms": True,
    }
