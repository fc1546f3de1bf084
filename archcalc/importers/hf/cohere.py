"""Command R: attention and FFN in parallel after one LayerNorm without bias."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, when

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config) -> Fields:
    attention = {"bias": c.flag("attention_bias"), **when(c.flag("use_qk_norm"), qk_norm="heads")}
    return decoder(c, attention=attention, norm={"kind": "layer", "bias": False}, parallel="shared")
