"""HyperCLOVA X: Llama with optional extra norms after attention and FFN."""

from typing import Any

from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    norm: Any = c.choose("use_post_norm", {"kind": "rms", "place": "sandwich"}, "rms")
    return llama_like(c, task, norm=norm)
