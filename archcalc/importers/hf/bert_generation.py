"""BertGeneration: BERT without token types; its head is the tied token embedding plus a bias."""

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("bert-generation",)


def translate(c: Config, task: str) -> Fields:
    return bert_like.bert(c, embedding={"norm": True}, head=_head(c, task))


def _head(c: Config, task: str) -> Any:
    """When untied, the class has a second bias."""
    head = heads.of_decoder(c, task, bias=True)
    if task == "causal" and head["kind"] == "lm":
        return {"kind": "lm", "bias": "twice"}
    return head
