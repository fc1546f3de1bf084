"""UMT5: mT5 with a relative position bias table in every block."""

from archcalc.importers.hf._helpers import Config, Fields, t5_like

USUAL = "seq2seq"
INERT = t5_like.INERT


def translate(c: Config) -> Fields:
    return t5_like.t5(c, t5_like.head_of_checkpoint(c, overwritten=True), per="block")
