"""nanochat: Llama with a non-gated FFN and weightless norms, also on queries, keys and the embedding."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("nanochat",)
USUAL = "causal"
INERT = {
    inert.SCALING: "final_logit_softcapping",
}


def translate(c: Config, task: str) -> Fields:
    weightless = {"kind": "rms", "affine": False}
    return llama_like(c, task, gated=False, qk_norm="head", norm=weightless, embedding={"norm": True})
