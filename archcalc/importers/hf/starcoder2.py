"""StarCoder 2: a non-gated FFN, LayerNorm, biases everywhere or nowhere."""

from archcalc.importers.hf._helpers.blocks import decoder, ffn, window
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    plain = ffn(c, gated=False)
    return decoder(c, task, ffn=plain, norm="layer", bias=c.flag("use_bias"), attention=window(c))
