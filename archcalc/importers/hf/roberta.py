"""RoBERTa, XLM-RoBERTa, CamemBERT, data2vec and I-BERT: BERT whose position ids start after the padding index."""

from __future__ import annotations

from archcalc.importers.hf._helpers import bert_like, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("roberta", "xlm-roberta", "camembert", "data2vec-text", "ibert")
USUAL = "masked"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
    inert.RUNNING: "force_dequant",
    inert.SUMMARY: "summary_proj_to_labels pooler_fc_size pooler_type",
}


def translate(c: Config, task: str) -> Fields:
    return {
        **bert_like.encoder(c),
        "norm": bert_like.POST_NORM,
        "position": bert_like.positions_behind_padding(c),
        "embedding": bert_like.typed(c),
        **bert_like.blocks(c),
        "head": bert_like.head(c, task, {"hidden": c.size("hidden_size")}),
    }
