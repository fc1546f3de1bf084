"""Mellum: MoE with QK norm; sliding-window blocks have their own RoPE base."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, head_dim, inert, local_theta, rope
from archcalc.importers.hf._helpers.layer_types import FULL, full, layer_types, sliding
from archcalc.importers.hf._helpers.moe import all_sparse, listed, mixture, used

INERT = {inert.NOT_HERE: "sliding_window"}


def translate(c: Config) -> Fields:
    parts, local = listed(c, all_sparse(c)), {"kind": "rope", "theta": local_theta(c)}
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: mixture(c, c.size("num_experts"), c.size("moe_intermediate_size"))),
        position=rope(c, head_dim(c), layer=FULL),
        **sliding(c, layer_types(c, full(c)), c.given("sliding_window"), part=parts, position=local),
    )
