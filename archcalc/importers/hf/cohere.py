"""Command R: attention and FFN in parallel after one LayerNorm without bias."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("cohere",)
USUAL = "causal"
INERT = {
    inert.SCALING: "logit_scale",
    inert.USUAL_LAYERS: "sliding_window_pattern",
}


def translate(c: Config, task: str) -> Fields:
    normed = {"qk_norm": "heads"} if c.flag("use_qk_norm") else {}
    attention = {"bias": c.flag("attention_bias"), **normed}
    return decoder(c, task, attention=attention, norm={"kind": "layer", "bias": False}, parallel="shared")
