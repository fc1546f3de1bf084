"""TAPAS: BERT with additional embeddings for a token's row, column and rank in a table."""

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"


def translate(c: Config, task: str) -> Fields:
    return bert_like.bert(c, embedding={"norm": True, "types": _tables(c)}, head=_head(c, task))


def _tables(c: Config) -> list[int]:
    said = c.get("type_vocab_sizes")
    if not isinstance(said, list) or not all(isinstance(rows, int) and rows > 0 for rows in said):
        raise c.wrong("type_vocab_sizes", "a list of sizes")
    return said


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": bert_like.pooled,
        "masked": lambda: bert_like.language(c),
        **bert_like.classifiers(c, bert_like.POOLER),
    }
    return heads.for_task(c, task, table)
