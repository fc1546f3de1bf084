"""Longformer: RoBERTa with sliding-window attention, and second q, k, v projections for global attention."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, longformer_like

USUAL = "masked"


def translate(c: Config) -> Fields:
    attention, variants, blocks = longformer_like.windows(c, c.size("num_hidden_layers"))
    return {
        **bert_like.encoder(c),
        "attention": attention,
        "norm": bert_like.POST_NORM,
        "position": bert_like.positions_behind_padding(c),
        "embedding": bert_like.typed(c),
        "variants": variants,
        "encoder": blocks,
        "head": bert_like.head(c, {"hidden": c.size("hidden_size")}),
    }
