"""BERT and ERNIE: post-norm, token type embeddings, a pooler; ERNIE has optional task type embeddings."""

from typing import Any

from archcalc.importers.hf._helpers import bert_like, inert
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("bert", "ernie")
USUAL = "masked"
INERT = {inert.NOT_HERE: "task_type_vocab_size", inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config, task: str) -> Fields:
    types: Any = c.count("type_vocab_size")
    if c.flag("use_task_id"):
        types = [types, c.size("task_type_vocab_size")]
    embedding = {"norm": True, "types": types}
    return bert_like.bert(c, embedding=embedding, head=bert_like.head(c, task, bert_like.POOLER))
