"""dots.llm1: QK norm, dense blocks first, then MoE blocks with routed and shared experts."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert
from archcalc.importers.hf._helpers.layer_types import layer_types, sliding, sliding_from
from archcalc.importers.hf._helpers.moe import experts, first_dense, used

INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "sliding_window"}


def translate(c: Config) -> Fields:
    parts, window = first_dense(c), c.given("sliding_window")
    usual = sliding_from(c, c.get("max_window_layers"), slides=window is not None)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "n_routed_experts", shared="n_shared_experts", correction=True)),
        **sliding(c, layer_types(c, usual), window, part=parts),
    )
