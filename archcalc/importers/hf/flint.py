"""Flint: attention sinks, QK norm, sliding windows in most blocks, MoE in some blocks."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert
from archcalc.importers.hf._helpers.layer_types import full_where, layer_types, sliding
from archcalc.importers.hf._helpers.moe import experts, sparse_where, used

INERT = {inert.NOT_HERE: "sliding_window"}


def translate(c: Config) -> Fields:
    dense, step = c.given_or("mlp_only_layers", [0, 1]), c.size("decoder_sparse_step")
    parts = sparse_where(c, lambda block: block not in dense and (block + 1) % step == 0)
    last = c.size("num_hidden_layers") - 1
    usual = full_where(c, lambda block: block < 2 or block % 4 == 1 or block == last)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "sinks": True},
        **used(c, parts, lambda: experts(c, "num_experts", shared_width="shared_expert_intermediate_size")),
        **sliding(c, layer_types(c, usual), c.given("sliding_window"), part=parts),
    )
