"""RoBERTa, XLM-RoBERTa, CamemBERT, data2vec and I-BERT: BERT whose position ids start after the padding index."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, inert

TYPES = ("roberta", "xlm-roberta", "camembert", "data2vec-text", "ibert")
USUAL = "masked"
INERT = {inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config) -> Fields:
    head = bert_like.head(c, {"hidden": c.size("hidden_size")})
    return bert_like.bert(c, position=bert_like.positions_behind_padding(c), head=head)
