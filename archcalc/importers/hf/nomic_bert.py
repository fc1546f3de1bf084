"""BERTs with rotary positions: Nomic's and GTE (gated FFNs), Jina's third (a plain one)."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope
from archcalc.importers.hf.bert import classifier, encoder

TYPES = ("nomic_bert", "gte", "jina_embeddings_v3")
USUAL = "masked"
INERT = "num_key_value_heads"


def translate(c: Config, task: str) -> Fields:
    fields = encoder(c)
    width = c.size_or("head_dim", fields["head_dim"])
    gated = {} if c.type == "jina_embeddings_v3" else {"gated": True}
    return {
        **fields,
        "head_dim": width,
        "ffn": {**fields["ffn"], **gated, **({"bias": ["out"]} if c.type == "gte" else {})},
        "norm": {"place": "post"},
        "bias": c.type != "nomic_bert",
        "position": rope(c, width),
        "embedding": {"norm": True, "types": c.count("type_vocab_size")},
        "encoder": c.size("num_hidden_layers"),
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    jina = c.type == "jina_embeddings_v3"
    if task == "base":
        return {"kind": "none", "pooler": True} if jina else "none"
    if task == "masked":
        untied = c.given("tie_word_embeddings") is False  # a file may say so; Nomic's class declares no such key
        kind = (
            {"kind": "lm", "bias": True if c.type == "gte" else "twice"} if untied else {"kind": "tied", "bias": True}
        )
        return {**kind, "transform": True}
    return classifier(c, task, {"hidden": c.size("hidden_size")} if jina else {"pooler": True})
