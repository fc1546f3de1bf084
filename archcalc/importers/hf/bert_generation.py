"""BertGeneration: BERT without token types; its head is the tied token embedding plus a bias."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, heads

TYPES = ("bert-generation",)


def translate(c: Config) -> Fields:
    head = heads.of_decoder(c, bias=True)
    if c.task == "causal" and head["kind"] == "lm":
        head = {"kind": "lm", "bias": "twice"}  # untied, the class has a second one
    return bert_like.bert(c, embedding={"norm": True}, head=head)
