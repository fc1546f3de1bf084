"""DPR: a BERT encoder with an optional projection, or a reader that extracts answer spans."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, heads

USUAL = "base"


def translate(c: Config) -> Fields:
    width = c.count("projection_dim")
    if c.task == "reader" and width:
        raise heads.refuse(c)
    table: heads.Table = {
        "base": lambda: heads.classifier(width, pool="class") if width else "none",
        "reader": lambda: heads.classifier(heads.SPAN, beside=heads.classifier(1, pool="class")),
    }
    return bert_like.bert(c, head=heads.for_task(c, table))
