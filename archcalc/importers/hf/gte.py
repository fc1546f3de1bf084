"""GTE: BERT with rotary positions and a gated FFN that has a bias only on its down projection."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like

USUAL = "masked"


def translate(c: Config) -> Fields:
    fields = bert_like.encoder(c)
    gated = {**fields["ffn"], "gated": True, "bias": ["out"]}
    head = bert_like.rotary_head(c, bert_like.POOLER, twice=False)
    return bert_like.rotary_bert(c, ffn=gated, head=head)
