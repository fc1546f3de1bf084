"""Shared by the DeBERTa family: disentangled attention, narrow embeddings, a head that may not fit its embedding.

Most of their fields are declared by no class, and matter.
"""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, heads, when


def deberta(c: Config, sizes: Fields, relative: list[Fields], **own: Value) -> Fields:
    """`sizes` as in BERT, `relative` position options, and the version's `own` fields."""
    d_model = c.size("hidden_size")
    width = c.size_or("embedding_size", d_model)
    narrow = when(width != d_model, width=width, project="sum")
    learned = c.choose("position_biased_input", [sizes["position"]], [])
    return {
        **sizes,
        "norm": bert_like.POST_NORM,
        "position": [*learned, *relative],
        "embedding": bert_like.typed(c, **narrow),
        **own,
        "head": _head(c),
        "spare": {**own.get("spare", {}), **_unfit_head(c)} or None,
    }


def relative(c: Config, length: int, *, projects: bool, buckets: int = -1, **more: Value) -> list[Fields]:
    """Buckets if there are any, else the longest distance, else the longest sequence; `projects`: keys and queries of
    distances have projections of their own."""
    kinds, furthest = c.given("pos_att_type") or [], c.given("max_relative_positions") or -1
    if not c.flag("relative_attention"):
        return []
    rows = next((number for number in (buckets, furthest) if number > 0), length)
    terms = [term for term in ("c2p", "p2c") if term in kinds]
    own = [letter for letter, kind in (("k", "c2p"), ("q", "p2c")) if kind in kinds and projects]
    return [{"kind": "disentangled", "buckets": rows, "terms": terms, "project": own, **more}]


def _head(c: Config) -> Value:
    c.skip("tie_word_embeddings")
    legacy, pooled = c.flag("legacy"), c.given("pooler_hidden_size")
    if c.task in ("sequence", "choice") and pooled not in (None, c.size("hidden_size")):
        raise c.refused(
            "pooler_hidden_size", "the pooler of the class takes hidden_size inputs, so such a model cannot run"
        )
    table = {"base": heads.none, "masked": lambda: _language(c, legacy), **bert_like.classifiers(c, bert_like.POOLER)}
    return heads.for_task(c, table)


def _language(c: Config, legacy: bool) -> Value:
    """The newer head has hidden_size inputs, and is tied to an embedding that may be narrower."""
    if legacy:
        return bert_like.language(c)
    if _narrow(c):
        return "none"
    return {"kind": "tied", "bias": True, "transform": True}


def _narrow(c: Config) -> bool:
    return c.size_or("embedding_size", c.size("hidden_size")) != c.size("hidden_size")


def _unfit_head(c: Config) -> Fields:
    """A tied head whose width differs from the embedding: stored separately, and unable to run."""
    if c.task != "masked" or c.flag("legacy") or not _narrow(c):
        return {}
    c.notes.append(
        "the head's width differs from the token embedding that it is tied to: this can be built but not run"
    )
    width = c.size("hidden_size")
    dense = {"head_dense_weight": [width, width], "head_dense_bias": [width]}
    norm = {"head_norm_weight": [width], "head_norm_bias": [width]}
    return {**dense, **norm, "head_bias": [c.size("vocab_size")]}
