"""GLM: biases on q, k and v only, RoPE on half of each head."""

from archcalc.importers.hf._helpers.blocks import biased, decoder
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    return decoder(c, task, attention={"bias": biased(qkv=c.flag("attention_bias"))})
