"""Text model of dense Qwen 3.5: Gated DeltaNet in three of four blocks, gated attention in the fourth."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.qwen_like import delta_decoder
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.USUAL_LAYERS: "full_attention_interval"}


def translate(c: Config, task: str) -> Fields:
    return delta_decoder(c, task, ["ffn"] * c.size("num_hidden_layers"))
