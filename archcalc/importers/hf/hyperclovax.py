"""HyperCLOVA X: Llama with optional extra norms after attention and FFN."""

from archcalc.importers.hf._helpers import Config, Fields, Value, llama_like


def translate(c: Config) -> Fields:
    norm: Value = c.choose("use_post_norm", {"kind": "rms", "place": "sandwich"}, "rms")
    return llama_like.llama(c, norm=norm)
