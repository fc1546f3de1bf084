"""DPR: a BERT encoder with an optional projection, or a reader that extracts answer spans."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, heads

USUAL = "base"


def translate(c: Config) -> Fields:
    return bert_like.bert(c, head=_head(c))


def _head(c: Config) -> Value:
    width = c.count("projection_dim")
    if c.task == "reader" and width:
        raise heads.refuse(c)
    if c.task == "base" and width:
        return heads.classifier(width, pool="class")
    table: heads.Table = {
        "base": heads.none,
        "reader": lambda: heads.classifier(heads.SPAN, beside=heads.classifier(1, pool="class")),
    }
    return heads.for_task(c, table)
