"""OLMo: Llama with non-parametric LayerNorm."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("olmo",)
USUAL = "causal"
INERT = {
    inert.SCALING: "clip_qkv",
}


def translate(c: Config, task: str) -> Fields:
    attention = {"bias": c.flag("attention_bias")}
    return decoder(c, task, attention=attention, norm={"kind": "layer", "affine": False})
