"""Longformer: RoBERTa with sliding-window attention, and second q, k, v projections for global attention."""

from archcalc.importers.hf._helpers import bert_like
from archcalc.importers.hf._helpers.longformer_like import windows
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"


def translate(c: Config, task: str) -> Fields:
    attention, variants, blocks = windows(c, c.size("num_hidden_layers"))
    return {
        **bert_like.encoder(c),
        "attention": attention,
        "norm": bert_like.POST_NORM,
        "position": bert_like.positions_behind_padding(c),
        "embedding": bert_like.typed(c),
        "variants": variants,
        "encoder": blocks,
        "head": bert_like.head(c, task, {"hidden": c.size("hidden_size")}),
    }
