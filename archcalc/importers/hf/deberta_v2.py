"""DeBERTa, the first and its heirs: content and position apart. Most fields are declared by no class, and matter."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import Fields, stacked
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import classifier, encoder, language

TYPES = ("deberta-v2", "deberta")
USUAL = "masked"
INERT = "pooler_hidden_act pooler_dropout num_key_value_heads head_dim"


def translate(c: Config, task: str) -> Fields:
    d_model = c.size("hidden_size")
    width = c.size_or("embedding_size", d_model)
    fields = encoder(c)
    if c.type != "deberta":
        _check_head_size(c, fields["head_dim"])
    elif c.given("talking_head"):
        raise c.refused("talking_head")
    learned = fields["position"]
    blocks = stacked(["attention ffn"] * c.size("num_hidden_layers"))
    return {
        **fields,
        "attention": {"bias": ["q", "v", "o"]} if c.type == "deberta" else None,
        "norm": {"place": "post"},
        "position": [*([learned] if c.flag("position_biased_input") else []), *_relative(c, learned["length"])],
        "embedding": {
            "norm": True,
            "types": c.count("type_vocab_size"),
            **({"width": width, "project": "sum"} if width != d_model else {}),
        },
        **_convolution(c, blocks),
        "head": _head(c, task),
        "spare": {**(_spare(c, d_model) or {}), **_headless(c, task)} or None,
    }


def _check_head_size(c: Config, usual: int) -> None:
    if c.size_or("attention_head_size", usual) != usual:
        why = "the output projection reads hidden_size numbers, so that such a model can be built, but not run"
        raise c.refused("attention_head_size", why)


def _normed(c: Config) -> bool:
    return c.type != "deberta" and "layer_norm" in str(c.given("norm_rel_ebd") or "none").lower()


def _spare(c: Config, d_model: int) -> Fields | None:
    """The norm of relative positions stands there even where these do not."""
    if c.flag("relative_attention") or not _normed(c):
        return None
    return {"relative_norm_weight": [d_model], "relative_norm_bias": [d_model]}


def _relative(c: Config, length: int) -> list[Fields]:
    """Buckets if they are given, else the longest distance, else the longest sequence."""
    first = c.type == "deberta"
    kinds = c.given("pos_att_type") or []
    shared = not first and c.given_flag("share_att_key")
    buckets, furthest = -1 if first else c.given("position_buckets") or -1, c.given("max_relative_positions") or -1
    if not c.flag("relative_attention"):
        return []
    own = [letter for letter, kind in (("k", "c2p"), ("q", "p2c")) if kind in kinds and not shared]
    rows = buckets if buckets > 0 else furthest if furthest >= 1 else length
    if first and kinds:
        c.notes.append("of texts shorter than the table the class projects fewer distances; all are counted")
    terms = [term for term in ("c2p", "p2c") if term in kinds]
    said = {"kind": "disentangled", "buckets": rows, "terms": terms, "project": own}
    return [{**said, **({"norm": True} if _normed(c) else {})}]


def _convolution(c: Config, blocks: Any) -> Fields:
    kernel, groups = 0 if c.type == "deberta" else c.given("conv_kernel_size") or 0, c.given("conv_groups") or 1
    c.skip("conv_act")
    if kernel < 1:
        return {"encoder": blocks}
    stack = blocks if isinstance(blocks, dict) else {"blocks": blocks}
    return {"conv": {"kernel": kernel, "groups": groups, "act": "tanh"}, "encoder": {**stack, "once": ["conv"]}}


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    legacy = c.flag("legacy")
    pooled = c.given("pooler_hidden_size")
    if task in ("sequence", "choice") and pooled not in (None, c.size("hidden_size")):
        raise c.refused("pooler_hidden_size", "the class pools hidden_size numbers, so that such a model cannot run")
    if task == "base":
        return "none"
    if task == "masked":
        return language(c, twice=True) if legacy else _newer(c)
    return classifier(c, task, {"pooler": True})


def _newer(c: Config) -> Any:
    """The newer head is as wide as the model, and tied to a table that may be narrower."""
    return "none" if _narrow(c) else {"kind": "tied", "bias": True, "transform": True}


def _narrow(c: Config) -> bool:
    return c.size_or("embedding_size", c.size("hidden_size")) != c.size("hidden_size")


def _headless(c: Config, task: str) -> Fields:
    """A head that is not as wide as the table that it is tied to is kept, and cannot run."""
    if task != "masked" or c.flag("legacy") or not _narrow(c):
        return {}
    c.notes.append("the head is not as wide as the token table that it is tied to: this can be built, but not run")
    width = c.size("hidden_size")
    norm = {"head_norm_weight": [width], "head_norm_bias": [width]}
    return {
        "head_dense_weight": [width, width],
        "head_dense_bias": [width],
        **norm,
        "head_bias": [c.size("vocab_size")],
    }
