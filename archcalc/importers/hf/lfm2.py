"""LFM2 and LFM3: short gated convolutions, and a few attention layers with QK norm."""

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    decoder,
    ffn,
    head_dim,
    heads,
    inert,
    rope,
    top,
    when,
    where_used,
    window,
)
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, full, full_where, layer_types, paired
from archcalc.importers.hf._helpers.moe import first_dense

_GATED: Fields = {"act": "silu", "gated": True}
_MIXERS = {"conv": "conv", FULL: "attention"}
_WINDOWED = {**_MIXERS, SLIDING: "local"}
INERT = {
    "lfm2": {
        inert.NO_SUCH_SIZE: "conv_dim conv_dim_out block_dim",
        inert.USUAL_LAYERS: "full_attn_idxs",
        inert.NOT_HERE: (
            "block_use_swiglu block_multiple_of block_ffn_dim_multiplier block_auto_adjust_ff_dim tie_embedding"
        ),
    },
    "lfm3": {
        inert.NOT_HERE: "block_multiple_of block_ffn_dim_multiplier block_auto_adjust_ff_dim full_attn_idxs",
    },
    "lfm2_moe": {
        inert.NO_SUCH_SIZE: "conv_dim conv_dim_out block_dim",
        inert.NOT_HERE: "use_expert_bias block_use_swiglu tie_embedding",
    },
}


def _conv_mixers(c: Config, usual: list[str]) -> list[str]:
    """A convolution or attention, for each block."""
    return [_MIXERS[layer] for layer in layer_types(c, usual, known=_MIXERS)]


def _lfm2_head(c: Config) -> Value:
    """`tie_embedding` of older files takes precedence."""
    if c.task != "causal" or c.given("tie_embedding") is None:
        return heads.of_decoder(c)
    c.skip("tie_word_embeddings")
    if c.given("tie_embedding"):
        return "tied"
    return "lm"


def _convolutions(c: Config, mixers: list[str]) -> Fields:
    """The options of both, each only if a block has it."""
    kernel = {"kind": "gated", "kernel": c.size("conv_L_cache"), "bias": c.flag("conv_bias")}
    return where_used(mixers, attention=lambda: {"qk_norm": "head"}, conv=lambda: kernel)


def lfm2(c: Config) -> Fields:
    """LFM2: short gated convolutions with a few attention layers."""
    there = c.given("full_attn_idxs")
    mixers = _conv_mixers(c, full_where(c, lambda block: there is None or block in there, "conv"))
    return decoder(
        c,
        **_convolutions(c, mixers),
        ffn={"width": _width(c), **_GATED},
        decoder=paired(mixers, ["ffn"] * len(mixers)),
        head=_lfm2_head(c),
    )


def _width(c: Config) -> int:
    """Two thirds of the width in the file, rounded up, unless that is switched off."""
    width = c.size_or("block_ff_dim", c.size("intermediate_size"))
    if not c.flag("block_auto_adjust_ff_dim"):
        return width
    width, whole = int(2 * width / 3), c.size("block_multiple_of")
    width = int(c.given_or("block_ffn_dim_multiplier", 1) * width)
    return whole * -(-width // whole)


def lfm2_moe(c: Config) -> Fields:
    """LFM2 MoE: short gated convolutions with a few attention layers; dense blocks first, then MoE."""
    mixers, parts = _conv_mixers(c, full(c)), first_dense(c, "num_dense_layers")
    c.skip("intermediate_size", "moe_intermediate_size", "num_experts", "num_experts_per_tok")
    return decoder(
        c,
        **_convolutions(c, mixers),
        **where_used(parts, ffn=lambda: {"width": c.size("intermediate_size"), **_GATED}, moe=lambda: _experts(c)),
        decoder=paired(mixers, parts),
        head=_lfm2_head(c),
    )


def lfm3(c: Config) -> Fields:
    """LFM3: windows in some of the attention layers, a gate for each head, and a second norm behind each part."""
    layers = layer_types(c, [_lfm3_usual(block) for block in range(c.size("num_hidden_layers"))], known=_WINDOWED)
    mixers = [_WINDOWED[layer] for layer in layers]
    local = {"like": "attention", **window(c), "position": rope(c, head_dim(c), layer=SLIDING)}
    gated = {"qk_norm": "head", "bias": c.flag("attention_bias"), **when(c.flag("use_attention_gate"), gate="head")}
    short = {"kind": "gated", "kernel": c.size("conv_L_cache"), "bias": c.flag("conv_bias")}
    parts = where_used(mixers, attention=lambda: gated, conv=lambda: short)
    return decoder(
        c,
        **{**parts, **when(SLIDING in layers, attention=gated, variants={"local": local})},
        ffn=ffn(c),
        norm=c.choose("use_sandwich_norm", {"kind": "rms", "place": "sandwich"}, "rms"),
        position=rope(c, head_dim(c), layer=FULL),
        decoder=paired(mixers, ["ffn"] * len(mixers)),
    )


def _lfm3_usual(block: int) -> str:
    """Of four blocks two are convolutions; the first of all is one, too."""
    return "conv" if not block else {0: SLIDING, 2: FULL}.get(block % 4, "conv")


def _experts(c: Config) -> Fields:
    number, steered = c.size("num_experts"), when(c.flag("use_expert_bias"), correction=True)
    return {"experts": number, "top": top(c, number), "width": c.size("moe_intermediate_size"), **steered}
