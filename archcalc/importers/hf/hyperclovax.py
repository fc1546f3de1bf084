"""HyperCLOVA X: Llama with optional extra norms after attention and FFN."""

from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    sandwich = {"kind": "rms", "place": "sandwich"}
    return llama_like(c, task, norm=sandwich if c.flag("use_post_norm") else "rms")
