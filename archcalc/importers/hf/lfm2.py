"""LFM2: short gated convolutions with some attention between them; experts behind dense blocks, or none."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, decoder, layer_types, top
from archcalc.importers.hf._helpers.moe import first_dense
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("lfm2", "lfm2_moe")
USUAL = "causal"
INERT = (
    "use_expert_bias routed_scaling_factor norm_topk_prob full_attn_idxs conv_dim conv_dim_out conv_use_xavier_init"
    " block_mlp_init_scale block_norm_eps block_out_init_scale block_use_swiglu block_use_xavier_init block_dim"
    " block_multiple_of block_ffn_dim_multiplier block_auto_adjust_ff_dim tie_embedding"
)


def translate(c: Config, task: str) -> Fields:
    blocks = range(c.size("num_hidden_layers"))
    there = c.given("full_attn_idxs") if c.type == "lfm2" else None
    usual = ["full_attention" if there is None or block in there else "conv" for block in blocks]
    layers = layer_types(c, usual)
    if not set(layers) <= {"conv", "full_attention"}:
        raise c.refused("layer_types")
    mixers = ["conv" if layer == "conv" else "attention" for layer in layers]
    parts = first_dense(c, "num_dense_layers") if c.type == "lfm2_moe" else ["ffn" for _ in blocks]
    kernel = {"kind": "gated", "kernel": c.size("conv_L_cache"), "bias": c.flag("conv_bias")}
    c.skip("intermediate_size", "conv_L_cache", "conv_bias")
    if c.type == "lfm2_moe":
        c.skip("moe_intermediate_size", "num_experts", "num_experts_per_tok")
    return decoder(
        c,
        task,
        attention={"qk_norm": "head"} if "attention" in mixers else None,
        conv=kernel if "conv" in mixers else None,
        ffn={"width": _width(c), "act": "silu", "gated": True} if "ffn" in parts else None,
        moe=_experts(c) if c.type == "lfm2_moe" and "moe" in parts else None,
        decoder=stack([" ".join(pair) for pair in zip(mixers, parts, strict=True)]),
        head=_head(c, task),
    )


def _width(c: Config) -> int:
    """LFM2 makes two thirds of what the file says, rounded up, unless that is switched off."""
    width = c.size_or("block_ff_dim", c.size("intermediate_size")) if c.type == "lfm2" else c.size("intermediate_size")
    if c.type == "lfm2_moe" or not c.flag("block_auto_adjust_ff_dim"):
        return width
    width, times, whole = int(2 * width / 3), c.get("block_ffn_dim_multiplier"), c.size("block_multiple_of")
    width = width if times is None else int(times * width)
    return whole * -(-width // whole)


def _experts(c: Config) -> Fields:
    number, steered = c.size("num_experts"), c.flag("use_expert_bias")
    width = c.size("moe_intermediate_size")
    return {"experts": number, "top": top(c, number), "width": width, **({"correction": True} if steered else {})}


def _head(c: Config, task: str) -> object:
    """`tie_embedding` of older files wins."""
    if task != "causal" or c.given("tie_embedding") is None:
        return heads.of_decoder(c, task)
    c.skip("tie_word_embeddings")
    return "tied" if c.given("tie_embedding") else "lm"
