"""DeBERTa: disentangled attention."""

from archcalc.importers.hf._helpers import Config, Fields, Value, Weights, bert_like, heads, when

USUAL = "masked"
WEIGHTS = {
    "deberta": Weights(fused={r".*attention\.self\.in_proj\.weight": 3}),  # queries, keys and values
}


def _deberta(c: Config, sizes: Fields, relative: list[Fields], **own: Value) -> Fields:
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


def _relative(c: Config, length: int, *, projects: bool, buckets: int = -1, **more: Value) -> list[Fields]:
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


def deberta(c: Config) -> Fields:
    """DeBERTa v1: disentangled attention, whose key projection has no bias."""
    if c.given("talking_head"):
        raise c.refused("talking_head")
    c.skip("conv_act")
    fields = bert_like.sizes(c)
    attention, blocks = {"bias": ["q", "v", "o"]}, c.size("num_hidden_layers")
    if c.flag("relative_attention") and c.given("pos_att_type"):
        fewer = "for sequences shorter than the relative position table the class projects fewer positions"
        c.notes.append(f"{fewer}; all are counted")
    relative = _relative(c, fields["position"]["length"], projects=True)
    return _deberta(c, fields, relative, attention=attention, encoder=blocks)


def _deberta_v2(c: Config) -> Fields:
    """DeBERTa v2 and v3: disentangled attention, bucketed relative positions, optional convolution in the
    first block."""
    fields = bert_like.sizes(c)
    if c.size_or("attention_head_size", fields["head_dim"]) != fields["head_dim"]:
        why = "the output projection takes hidden_size inputs, so such a model can be built but not run"
        raise c.refused("attention_head_size", why)
    shared, buckets = c.given_flag("share_att_key"), c.given("position_buckets") or -1
    normed, length = "layer_norm" in str(c.given("norm_rel_ebd") or "none").lower(), fields["position"]["length"]
    relative = _relative(c, length, projects=not shared, buckets=buckets, **when(normed, norm=True))
    blocks, d_model = c.size("num_hidden_layers"), c.size("hidden_size")
    kernel, groups = c.given("conv_kernel_size") or 0, c.given("conv_groups") or 1
    c.skip("conv_act")
    kept = normed and not c.flag("relative_attention")  # the norm exists even without relative attention
    spare = when(kept, relative_norm_weight=[d_model], relative_norm_bias=[d_model])
    if kernel < 1:
        return _deberta(c, fields, relative, encoder=blocks, spare=spare)
    convolution, encoder = {"kernel": kernel, "groups": groups, "act": "tanh"}, {"blocks": blocks, "once": ["conv"]}
    return _deberta(c, fields, relative, conv=convolution, encoder=encoder, spare=spare)


TYPES = {"deberta-v2": _deberta_v2}
