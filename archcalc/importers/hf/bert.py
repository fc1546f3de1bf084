"""BERT and ERNIE: post-norm, token type embeddings, a pooler; ERNIE has optional task type embeddings."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, inert

TYPES = ("bert", "ernie")
USUAL = "masked"
INERT = {inert.NOT_HERE: "task_type_vocab_size", inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config) -> Fields:
    types: Value = c.count("type_vocab_size")
    if c.flag("use_task_id"):
        types = [types, c.size("task_type_vocab_size")]
    embedding = {"norm": True, "types": types}
    return bert_like.bert(c, embedding=embedding, head=bert_like.head(c, bert_like.POOLER))
