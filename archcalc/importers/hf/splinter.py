"""Splinter's bare encoder: BERT without a pooler."""

from archcalc.importers.hf._helpers import bert_like, heads
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "base"


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    return bert_like.bert(c, head="none")
