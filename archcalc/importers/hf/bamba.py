"""Bamba: Mamba 2 with some attention, an FFN in every block."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, head_dim
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("bamba",)
USUAL = "causal"
INERT = (
    "num_logits_to_keep mamba_d_head time_step_limit layers_block_type layer_types attn_rotary_emb"
    " partial_rotary_factor"
)


def translate(c: Config, task: str) -> Fields:
    attends = c.get("attn_layer_indices") or []
    mixers = ["attention" if block in attends else "mamba" for block in range(c.size("num_hidden_layers"))]
    there = "attention" in mixers
    fields = decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias")} if there else None,
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        mamba=mamba(c) if "mamba" in mixers else None,
        position=rope(c, head_dim(c), fraction=0.5) if there else None,
        decoder=stack([f"{mixer} ffn" for mixer in mixers]),
    )
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields


def mamba(c: Config) -> Fields:
    return {
        "kind": "mamba2",
        "inner": c.size("mamba_expand") * c.size("hidden_size"),
        "heads": c.size("mamba_n_heads"),
        "state": c.size("mamba_d_state"),
        "groups": c.size("mamba_n_groups"),
        "conv": c.size("mamba_d_conv"),
        "bias": c.flag("mamba_proj_bias"),
        "conv_bias": c.flag("mamba_conv_bias"),
        "chunk": c.size("mamba_chunk_size"),
    }
