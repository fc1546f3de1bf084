"""DeBERTa v2 and v3: content and position apart. Most of its fields are declared by no class, and matter."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf.bert import classifier, encoder, language
from archcalc.importers.hf.blocks import Fields, stacked
from archcalc.importers.hf.reading import Config

TYPES = ("deberta-v2",)
USUAL = "masked"
INERT = "pooler_hidden_act pooler_dropout num_key_value_heads head_dim"


def translate(c: Config, task: str) -> Fields:
    d_model = c.size("hidden_size")
    width = c.size_or("embedding_size", d_model)
    fields = encoder(c)
    fields["head_dim"] = c.size_or("attention_head_size", fields["head_dim"])
    learned = fields["position"]
    blocks = stacked(["attention ffn"] * c.size("num_hidden_layers"))
    return {
        **fields,
        "norm": {"place": "post"},
        "position": [*([learned] if c.flag("position_biased_input") else []), *_relative(c, learned["length"])],
        "embedding": {
            "norm": True,
            "types": c.count("type_vocab_size"),
            **({"width": width, "project": "sum"} if width != d_model else {}),
        },
        **_convolution(c, blocks),
        "head": _head(c, task),
    }


def _relative(c: Config, length: int) -> list[Fields]:
    """Buckets if they are given, else the longest distance, else the longest sequence."""
    normed = "layer_norm" in str(c.given("norm_rel_ebd") or "none").lower()
    kinds = c.given("pos_att_type") or []
    shared = c.given_flag("share_att_key")
    buckets, furthest = c.given("position_buckets") or -1, c.given("max_relative_positions") or -1
    if not c.flag("relative_attention"):
        if normed:
            raise c.refused("norm_rel_ebd", "the class keeps a norm here that nothing reads")
        return []
    own = [letter for letter, kind in (("k", "c2p"), ("q", "p2c")) if kind in kinds and not shared]
    rows = buckets if buckets > 0 else furthest if furthest >= 1 else length
    return [{"kind": "disentangled", "buckets": rows, "project": own, **({"norm": True} if normed else {})}]


def _convolution(c: Config, blocks: Any) -> Fields:
    kernel, groups = c.given("conv_kernel_size") or 0, c.given("conv_groups") or 1
    c.skip("conv_act")
    if kernel < 1:
        return {"encoder": blocks}
    stack = blocks if isinstance(blocks, dict) else {"blocks": blocks}
    return {"conv": {"kernel": kernel, "groups": groups, "act": "tanh"}, "encoder": {**stack, "once": ["conv"]}}


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    legacy = c.flag("legacy")
    if c.given("pooler_hidden_size") not in (None, c.size("hidden_size")):
        raise c.refused("pooler_hidden_size", "the class pools hidden_size numbers, so that such a model cannot run")
    if task == "base":
        return "none"
    if task == "masked":
        return language(c, twice=True) if legacy else {"kind": "tied", "bias": True, "transform": True}
    return classifier(c, task, {"pooler": True})
