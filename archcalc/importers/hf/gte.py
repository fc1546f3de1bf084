"""GTE: BERT with rotary positions and a gated FFN that has a bias only on its down projection."""

from archcalc.importers.hf._helpers import bert_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"


def translate(c: Config, task: str) -> Fields:
    fields = bert_like.encoder(c)
    gated = {**fields["ffn"], "gated": True, "bias": ["out"]}
    head = bert_like.rotary_head(c, task, bert_like.POOLER, twice=False)
    return bert_like.rotary_bert(c, ffn=gated, head=head)
