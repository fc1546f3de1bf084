"""nanochat: Llama with a non-gated FFN and weightless norms, also on queries, keys and the embedding."""

from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    weightless = {"kind": "rms", "affine": False}
    return llama_like(c, task, gated=False, qk_norm="head", norm=weightless, embedding={"norm": True})
