"""HyperCLOVA X: Llama with optional extra norms after attention and FFN."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("hyperclovax",)
USUAL = "causal"
INERT = {
    inert.SCALING: "embedding_multiplier logits_scaling residual_multiplier attention_multiplier",
}


def translate(c: Config, task: str) -> Fields:
    sandwich = {"kind": "rms", "place": "sandwich"}
    return llama_like(c, task, norm=sandwich if c.flag("use_post_norm") else "rms")
