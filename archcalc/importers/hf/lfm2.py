"""LFM2: short gated convolutions with a few attention layers."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, lfm2_like
from archcalc.importers.hf._helpers.layer_types import full_where, paired

INERT = {
    inert.NO_SUCH_SIZE: "conv_dim conv_dim_out block_dim",
    inert.USUAL_LAYERS: "full_attn_idxs",
    inert.NOT_HERE: (
        "block_use_swiglu block_multiple_of block_ffn_dim_multiplier block_auto_adjust_ff_dim tie_embedding"
    ),
}


def translate(c: Config) -> Fields:
    there = c.given("full_attn_idxs")
    mixers = lfm2_like.conv_mixers(c, full_where(c, lambda block: there is None or block in there, "conv"))
    return decoder(
        c,
        **lfm2_like.convolutions(c, mixers),
        ffn={"width": _width(c), "act": "silu", "gated": True},
        decoder=paired(mixers, ["ffn"] * len(mixers)),
        head=lfm2_like.lfm2_head(c),
    )


def _width(c: Config) -> int:
    """Two thirds of the width in the file, rounded up, unless that is switched off."""
    width = c.size_or("block_ff_dim", c.size("intermediate_size"))
    if not c.flag("block_auto_adjust_ff_dim"):
        return width
    width, whole = int(2 * width / 3), c.size("block_multiple_of")
    width = int(c.given_or("block_ffn_dim_multiplier", 1) * width)
    return whole * -(-width // whole)
