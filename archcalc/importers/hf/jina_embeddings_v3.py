"""Jina embeddings v3: BERT with rotary positions."""

from archcalc.importers.hf._helpers import bert_like
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import rope

USUAL = "masked"


def translate(c: Config, task: str) -> Fields:
    fields = bert_like.encoder(c)
    width = c.size_or("head_dim", fields["head_dim"])
    return {
        **fields,
        "head_dim": width,
        "norm": bert_like.POST_NORM,
        "bias": True,
        "position": rope(c, width),
        "embedding": bert_like.typed(c),
        "encoder": c.size("num_hidden_layers"),
        "head": bert_like.rotary_head(c, task, {"hidden": c.size("hidden_size")}, base=bert_like.pooled),
    }
