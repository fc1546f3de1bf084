"""RemBERT: narrow tables going in, a wider one coming out."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import classifier, encoder, stack

TYPES = ("rembert",)
USUAL = "masked"
INERT = "head_dim num_key_value_heads"


def translate(c: Config, task: str) -> Fields:
    width, d_model = c.size("input_embedding_size"), c.size("hidden_size")
    always = {"always_project": True} if width == d_model else {}
    return {
        **encoder(c),
        "norm": {"place": "post"},
        "embedding": {"norm": True, "types": c.count("type_vocab_size"), "width": width, **always},
        **stack(c),
        "head": _head(c, task, width),
    }


def _head(c: Config, task: str, width: int) -> Fields:
    c.skip("tie_word_embeddings", "output_embedding_size")
    if task == "base":
        return {"kind": "none", "pooler": True}
    if task not in ("masked", "causal"):
        return classifier(c, task, {"pooler": True})
    wide = c.size("output_embedding_size")
    if not c.flag("tie_word_embeddings"):
        return {"kind": "lm", "bias": True, "transform": True if wide == width else wide}
    if wide != width:
        raise c.refused("tie_word_embeddings", "the table that comes out is not as wide as the one that goes in")
    return {"kind": "tied", "bias": True, "transform": True}
