"""Qwen3-Next and 3.5: gated delta nets in three of four blocks, gated attention in the fourth, perhaps experts."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, head_dim, layer_types
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope
from archcalc.importers.hf.qwen2_moe import experts, sparse_blocks

TYPES = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")
USUAL = "causal"
INERT = "norm_topk_prob full_attention_interval"


def translate(c: Config, task: str) -> Fields:
    moe = experts(c) if c.type != "qwen3_5_text" else None
    parts = _parts(c, moe)
    mixers = _mixers(c)
    attends = "attention" in mixers
    fields = decoder(
        c,
        task,
        ffn=ffn(c) if "ffn" in parts else None,
        moe=moe if "moe" in parts else None,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": True} if attends else None,
        delta=_delta(c) if "delta" in mixers else None,
        position=rope(c, head_dim(c), fraction=0.25) if attends else None,
        decoder=stack([f"{mixer} {part}" for mixer, part in zip(mixers, parts, strict=True)]),
    )
    c.skip("attention_bias", "max_position_embeddings", "rope_parameters")
    if c.type == "qwen3_next":
        c.skip("intermediate_size")
    c.skip(*(key for key in c.said if key.startswith("linear_")))
    return fields


def _parts(c: Config, moe: Fields | None) -> list[str]:
    """Qwen 3.5 has experts in every block or in none."""
    if moe is None or c.type == "qwen3_5_moe_text":
        return ["moe" if moe else "ffn"] * c.size("num_hidden_layers")
    return ["moe" if sparse else "ffn" for sparse in sparse_blocks(c, moe["experts"])]


def _mixers(c: Config) -> list[str]:
    every, blocks = c.given("full_attention_interval") or 4, c.size("num_hidden_layers")
    usual = ["linear_attention" if (block + 1) % every else "full_attention" for block in range(blocks)]
    known = {"linear_attention": "delta", "full_attention": "attention"}
    layers = layer_types(c, usual)
    if not set(layers) <= set(known):
        raise c.refused("layer_types")
    return [known[layer] for layer in layers]


def _delta(c: Config) -> Fields:
    return {
        "heads": c.size("linear_num_key_heads"),
        "v_heads": c.size("linear_num_value_heads"),
        "head_dim": c.size("linear_key_head_dim"),
        "v_dim": c.size("linear_value_head_dim"),
        "conv": c.size("linear_conv_kernel_dim"),
    }
