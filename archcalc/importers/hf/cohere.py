"""Command R: attention and FFN in parallel after one LayerNorm without bias."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.reading import Config, Fields, when

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config, task: str) -> Fields:
    attention = {"bias": c.flag("attention_bias"), **when(c.flag("use_qk_norm"), qk_norm="heads")}
    return decoder(c, task, attention=attention, norm={"kind": "layer", "bias": False}, parallel="shared")
