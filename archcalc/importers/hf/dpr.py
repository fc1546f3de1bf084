"""DPR: a BERT encoder with an optional projection, or a reader that extracts answer spans."""

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "base"


def translate(c: Config, task: str) -> Fields:
    return bert_like.bert(c, head=_head(c, task))


def _head(c: Config, task: str) -> Any:
    width = c.count("projection_dim")
    if task == "reader" and width:
        raise heads.refuse(c, task)
    if task == "base" and width:
        return heads.classifier(width, pool="class")
    table: heads.Table = {
        "base": heads.none,
        "reader": lambda: heads.classifier(heads.SPAN, beside=heads.classifier(1, pool="class")),
    }
    return heads.for_task(c, task, table)
