"""ALBERT: narrow embeddings, and blocks that share their weights."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import classifier, encoder, language, pair

TYPES = ("albert",)
USUAL = "masked"
INERT = "head_dim num_key_value_heads net_structure_type gap_size num_memory_blocks down_scale_factor"


def translate(c: Config, task: str) -> Fields:
    each, groups, layers = c.size("inner_group_num"), c.size("num_hidden_groups"), c.size("num_hidden_layers")
    width = c.size("embedding_size")
    c.skip("tie_word_embeddings")
    return {
        **encoder(c),
        "norm": {"place": "post"},
        "embedding": {
            "norm": True,
            "types": c.count("type_vocab_size"),
            "width": width,
            **({"always_project": True} if width == c.size("hidden_size") else {}),
        },
        "encoder": {"blocks": layers * each, **({"distinct": groups * each} if groups != layers else {})},
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Fields:
    if task == "base":
        return {"kind": "none", "pooler": True}
    if task == "pretraining":
        return {**language(c, twice=True), "beside": pair(heads.labels(c))}
    return language(c, twice=True) if task == "masked" else classifier(c, task, {"pooler": True})
