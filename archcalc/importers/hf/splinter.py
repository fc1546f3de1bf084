"""Splinter's bare encoder: BERT without a pooler."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, heads

USUAL = "base"


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    return bert_like.bert(c, head="none")
