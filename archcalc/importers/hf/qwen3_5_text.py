"""Text model of dense Qwen 3.5: Gated DeltaNet in three of four blocks, gated attention in the fourth."""

from archcalc.importers.hf._helpers import Config, Fields, inert, qwen_like

INERT = {inert.USUAL_LAYERS: "full_attention_interval"}


def translate(c: Config) -> Fields:
    return qwen_like.delta_decoder(c, ["ffn"] * c.size("num_hidden_layers"))
