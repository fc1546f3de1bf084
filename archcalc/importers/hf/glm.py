"""GLM: biases on q, k and v only, RoPE on half of each head."""

from archcalc.importers.hf._helpers import Config, Fields, biased, decoder


def translate(c: Config) -> Fields:
    return decoder(c, attention={"bias": biased(qkv=c.flag("attention_bias"))})
