"""StarCoder 2: a non-gated FFN, LayerNorm, biases everywhere or nowhere."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, window


def translate(c: Config) -> Fields:
    plain = ffn(c, gated=False)
    return decoder(c, ffn=plain, norm="layer", bias=c.flag("use_bias"), attention=window(c))
