"""RoBERTa-PreLayerNorm: pre-norm RoBERTa."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, inert

TYPES = ("roberta-prelayernorm",)
USUAL = "masked"
INERT = {inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config) -> Fields:
    head = bert_like.head(c, {"hidden": c.size("hidden_size")})
    return bert_like.bert(c, norm=None, position=bert_like.positions_behind_padding(c), head=head)
