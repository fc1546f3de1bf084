"""UMT5: mT5 with a relative position bias table in every block."""

from __future__ import annotations

from archcalc.importers.hf._helpers import t5_like
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("umt5",)
USUAL = "seq2seq"
INERT = t5_like.INERT


def translate(c: Config, task: str) -> Fields:
    return t5_like.t5_like(c, task, t5_like.head_of_checkpoint(c, task, overwritten=True), per="block")
