"""BigBird: BERT with optional block-sparse attention, which changes no parameters."""

from archcalc.importers.hf._helpers import bert_like, heads, inert
from archcalc.importers.hf._helpers.blocks import biased
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"
INERT = {inert.APPROXIMATE: "block_size"}


def translate(c: Config, task: str) -> Fields:
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, which the class uses for short sequences")
    attention = {"bias": biased(qkv=c.flag("use_bias"), o=True)}
    return bert_like.bert(c, attention=attention, head=_head(c, task))


def _head(c: Config, task: str) -> Fields:
    """Every class has the pooler, whether or not its head uses it."""
    if task == "answer":
        raise heads.refuse(c, task)
    found: Fields = bert_like.head(c, task, {"hidden": c.size("hidden_size"), "act": "gelu"})
    return bert_like.with_pooler(found)
