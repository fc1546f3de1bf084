"""Nomic BERT: BERT with rotary positions, a gated FFN and no biases."""

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
        "ffn": {**fields["ffn"], "gated": True},
        "norm": bert_like.POST_NORM,
        "bias": False,
        "position": rope(c, width),
        "embedding": bert_like.typed(c),
        "encoder": c.size("num_hidden_layers"),
        "head": bert_like.rotary_head(c, task, bert_like.POOLER),
    }
