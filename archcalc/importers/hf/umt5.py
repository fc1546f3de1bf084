"""UMT5: mT5 with a relative position bias table in every block."""

from archcalc.importers.hf._helpers import t5_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "seq2seq"
INERT = t5_like.INERT


def translate(c: Config, task: str) -> Fields:
    return t5_like.t5_like(c, task, t5_like.head_of_checkpoint(c, task, overwritten=True), per="block")
