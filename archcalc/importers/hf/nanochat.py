"""nanochat: Llama with a non-gated FFN and weightless norms, also on queries, keys and the embedding."""

from archcalc.importers.hf._helpers import Config, Fields, llama_like


def translate(c: Config) -> Fields:
    weightless = {"kind": "rms", "affine": False}
    return llama_like.llama(c, gated=False, qk_norm="head", norm=weightless, embedding={"norm": True})
