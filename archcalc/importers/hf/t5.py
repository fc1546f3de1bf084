"""T5 and T5 v1.1: an encoder-decoder with relative position bias and one shared token embedding."""

from archcalc.importers.hf._helpers import Config, Fields, t5_like

USUAL = "seq2seq"
INERT = t5_like.INERT


def translate(c: Config) -> Fields:
    """Only T5 configs also record an untied head in another key, which tells v1.1 from the original."""
    overwritten = c.given("scale_decoder_outputs") is False
    return t5_like.t5(c, t5_like.head_of_checkpoint(c, overwritten=overwritten))
