"""ERNIE 4.5 MoE: biases everywhere or nowhere, the LM head included."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, heads
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import mixture, sparse_where, used


def translate(c: Config) -> Fields:
    bias = c.flag("use_bias")
    first, last, step = c.get("moe_layer_start_index"), c.get("moe_layer_end_index"), c.size("moe_layer_interval")
    if last == -1:
        last = c.size("num_hidden_layers")
    parts = sparse_where(c, lambda block: (block + 1) % step == 0 and first <= block <= last)
    fields = decoder(
        c,
        bias=bias,
        **used(c, parts, lambda: _experts(c, bias=bias)),
        decoder=paired(["attention"] * len(parts), parts),
        head=heads.of_decoder(c, bias=bias),
    )
    c.skip("moe_k", "moe_num_experts", "moe_num_shared_experts")
    return fields


def _experts(c: Config, *, bias: bool) -> Fields:
    width, number = c.size("moe_intermediate_size"), c.size("moe_num_experts")
    several = c.count("moe_num_shared_experts")
    shared, biased = several * width, bias and several > 0
    return mixture(c, number, width, shared=shared, shared_bias=biased, per_token="moe_k", correction="frozen")
