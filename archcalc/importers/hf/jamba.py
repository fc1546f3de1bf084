"""Jamba: Mamba layers with a few attention layers, MoE in some blocks, no position embeddings."""

from math import ceil

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder, ffn, where_used
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.USUAL_LAYERS: "layers_block_type layer_types"}


def translate(c: Config, task: str) -> Fields:
    blocks, experts = range(c.size("num_hidden_layers")), c.size("num_experts")
    mixers = ["attention" if _falls(c, "attn", block) else "mamba" for block in blocks]
    parts = ["moe" if _falls(c, "expert", block) and experts > 1 else "ffn" for block in blocks]
    fields = decoder(
        c,
        task,
        **where_used(parts, ffn=lambda: ffn(c), moe=lambda: mixture(c, experts, c.size("intermediate_size"))),
        mamba=_mamba(c) if "mamba" in mixers else None,
        position=None,
        decoder=paired(mixers, parts),
    )
    c.skip("max_position_embeddings", "num_experts_per_tok", "hidden_act")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields


def _falls(c: Config, what: str, block: int) -> bool:
    return block % c.size(f"{what}_layer_period") == c.count(f"{what}_layer_offset")


def _mamba(c: Config) -> Fields:
    width, rank = c.size("hidden_size"), c.get("mamba_dt_rank")
    return {
        "inner": c.size("mamba_expand") * width,
        "state": c.size("mamba_d_state"),
        "conv": c.size("mamba_d_conv"),
        "dt_rank": ceil(width / 16) if rank == "auto" else c.size("mamba_dt_rank"),
        "bias": c.flag("mamba_proj_bias"),
        "conv_bias": c.flag("mamba_conv_bias"),
        "norms": True,
    }
