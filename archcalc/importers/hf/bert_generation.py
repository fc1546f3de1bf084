"""BertGeneration: BERT without token types; its head is the tied token embedding plus a bias."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, heads

TYPES = ("bert-generation",)


def translate(c: Config) -> Fields:
    return bert_like.bert(c, embedding={"norm": True}, head=_head(c))


def _head(c: Config) -> Value:
    """When untied, the class has a second bias."""
    head = heads.of_decoder(c, bias=True)
    if c.task == "causal" and head["kind"] == "lm":
        return {"kind": "lm", "bias": "twice"}
    return head
