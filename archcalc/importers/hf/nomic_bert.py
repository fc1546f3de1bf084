"""Nomic BERT: BERT with rotary positions, a gated FFN and no biases."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like

USUAL = "masked"


def translate(c: Config) -> Fields:
    fields = bert_like.encoder(c)
    head = bert_like.rotary_head(c, bert_like.POOLER)
    return bert_like.rotary_bert(c, ffn={**fields["ffn"], "gated": True}, bias=False, head=head)
