"""BigBird: BERT with optional block-sparse attention, which changes no parameters."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, biased, heads, inert

USUAL = "masked"
INERT = {inert.APPROXIMATE: "block_size"}


def translate(c: Config) -> Fields:
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, which the class uses for short sequences")
    if c.task == "answer":
        raise heads.refuse(c)
    attention = {"bias": biased(qkv=c.flag("use_bias"), o=True)}
    head = bert_like.head(c, {"hidden": c.size("hidden_size"), "act": "gelu"})
    return bert_like.bert(c, attention=attention, head=bert_like.with_pooler(head))
