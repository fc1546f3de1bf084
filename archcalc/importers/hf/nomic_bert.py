"""Nomic BERT: BERT with rotary positions, a gated FFN and no biases."""

from archcalc.importers.hf._helpers import bert_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"


def translate(c: Config, task: str) -> Fields:
    fields = bert_like.encoder(c)
    head = bert_like.rotary_head(c, task, bert_like.POOLER)
    return bert_like.rotary_bert(c, ffn={**fields["ffn"], "gated": True}, bias=False, head=head)
