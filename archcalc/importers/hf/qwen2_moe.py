"""Qwen 2 MoE: routed experts and a gated shared expert; decoder_sparse_step and mlp_only_layers choose dense blocks."""

from archcalc.importers.hf._helpers import Config, Fields, biased, decoder, inert, qwen_like
from archcalc.importers.hf._helpers.layer_types import full_where, layer_types, sliding

INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config) -> Fields:
    moe = qwen_like.gated_experts(c)
    parts = qwen_like.sparse_parts(c, moe["experts"])
    slides, last = c.flag("use_sliding_window"), c.get("max_window_layers")
    usual = full_where(c, lambda block: not (slides and block % 2 == 0 and block < last))
    window = c.choose("use_sliding_window", c.given("sliding_window"), None)
    return decoder(
        c,
        attention={"bias": biased(qkv=c.flag("qkv_bias"))},
        **qwen_like.dense_and_sparse(c, parts, moe),
        **sliding(c, layer_types(c, usual), window, part=parts),
    )
