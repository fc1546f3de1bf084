"""LFM2: short gated convolutions with a few attention layers."""

from typing import Any

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.layer_types import FULL, paired
from archcalc.importers.hf._helpers.lfm2_like import conv_mixers, convolutions
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {
    inert.NO_SUCH_SIZE: "conv_dim conv_dim_out block_dim",
    inert.USUAL_LAYERS: "full_attn_idxs",
    inert.NOT_HERE: (
        "block_use_swiglu block_multiple_of block_ffn_dim_multiplier block_auto_adjust_ff_dim tie_embedding"
    ),
}


def translate(c: Config, task: str) -> Fields:
    there, blocks = c.given("full_attn_idxs"), range(c.size("num_hidden_layers"))
    usual = [FULL if there is None or block in there else "conv" for block in blocks]
    mixers = conv_mixers(c, usual)
    return decoder(
        c,
        task,
        **convolutions(c, mixers),
        ffn={"width": _width(c), "act": "silu", "gated": True},
        decoder=paired(mixers, ["ffn"] * len(mixers)),
        head=_head(c, task),
    )


def _width(c: Config) -> int:
    """Two thirds of the width in the file, rounded up, unless that is switched off."""
    width = c.size_or("block_ff_dim", c.size("intermediate_size"))
    if not c.flag("block_auto_adjust_ff_dim"):
        return width
    width, times, whole = int(2 * width / 3), c.get("block_ffn_dim_multiplier"), c.size("block_multiple_of")
    width = width if times is None else int(times * width)
    return whole * -(-width // whole)


def _head(c: Config, task: str) -> Any:
    """`tie_embedding` of older files takes precedence."""
    if task != "causal" or c.given("tie_embedding") is None:
        return heads.of_decoder(c, task)
    c.skip("tie_word_embeddings")
    return "tied" if c.given("tie_embedding") else "lm"
