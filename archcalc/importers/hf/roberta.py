"""RoBERTa and its like: BERT whose position ids start after the padding index; some of them are pre-norm."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, bert_like, inert, when

USUAL = "masked"
INERT = {inert.SUMMARY: "summary_proj_to_labels"}


def translate(c: Config, *, norm: Fields | None = bert_like.POST_NORM, embedding_norm: bool = True) -> Fields:
    embedding = {**when(embedding_norm, norm=True), "types": c.count("type_vocab_size")}
    head, position = bert_like.head(c, {"hidden": c.size("hidden_size")}), bert_like.positions_behind_padding(c)
    return bert_like.bert(c, norm=norm, position=position, embedding=embedding, head=head)


TYPES = {
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert", "data2vec-text", "ibert"), translate),
    "roberta-prelayernorm": partial(translate, norm=None),
    "xlm-roberta-xl": partial(translate, norm=None, embedding_norm=False),
}
