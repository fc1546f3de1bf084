"""What modules are called in checkpoints: `model.layers.3.self_attn.q_proj`, by what they do.

Families spell them in several ways. A list of modules is matched with all spellings, of which a checkpoint has one.
"""

from __future__ import annotations

from archcalc.storage.places import Place

_ATTENTION = ("self_attn", "attention", "attn", "self_attention", "mixer")
_FUSED = ("qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack")
_PROJECTIONS = {
    "q": ("q_proj", "query", "wq", *_FUSED),
    "k": ("k_proj", "key", "wk", *_FUSED),
    "v": ("v_proj", "value", "wv", *_FUSED),
    "out": ("o_proj", "out_proj", "dense", "wo", "c_proj"),
    "q_down": ("q_a_proj",),
    "q_up": ("q_b_proj",),
    "kv_down": ("kv_a_proj_with_mqa",),
    "kv_up": ("kv_b_proj",),
}
_FFN = {
    "gate": ("gate_proj", "w1", "gate_up_proj"),
    "up": ("up_proj", "w3", "gate_up_proj", "fc1", "c_fc", "dense_h_to_4h"),
    "down": ("down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h"),
}
_MIXTURES = ("mlp", "block_sparse_moe", "feed_forward", "moe", "mixer")
_DENSE = ("mlp", "feed_forward", "ffn", "mixer")
_BARE = {"up": ("fc1",), "down": ("fc2",)}  # OPT and BART have them directly in a layer
_INNER = {"mamba": ("mamba", "mixer"), "delta": ("linear_attn",), "moe": ("mlp",), "indexer": ("self_attn.indexer",)}
_WHOLE = {("indexer", "weights"): ("self_attn.indexers_proj",)}  # GLM 5's lists drop `.weight` wherever it stands
_TABLES = ("embed_tokens", "wte", "word_embeddings", "tok_embeddings", "embeddings")
_OTHER = {
    "router": ("gate", "router"),
    "in": ("in_proj", "in_proj_qkvz", "in_proj_qkv", "in_proj_z"),
    "out": ("out_proj",),
    "select": ("x_proj",),
    "dt": ("dt_proj",),
    "rates": ("in_proj_ba", "in_proj_a", "in_proj_b"),
    "shared_gate": ("shared_expert_gate",),
    "q": ("wq_b",),
    "k": ("wk",),
    "weights": ("weights_proj",),
}


def modules(place: Place) -> tuple[str, ...]:
    """Every spelling of the module that holds a matrix, as it is called in a layer or, for the head, in the model."""
    if place.role == "head":
        return ("lm_head",)
    return _TABLES if place.param.table else _tails(place)


def _tails(place: Place) -> tuple[str, ...]:
    kind, _, what = place.role.partition(".")
    if kind == "attention":
        return _joined(_ATTENTION, _PROJECTIONS[what])
    if kind == "ffn" and place.is_expert:
        each = _joined(_MIXTURES, ("experts.0", "experts"))
        return _joined(each, _FFN[what])
    if kind == "ffn" and place.is_shared:
        return _joined(_joined(_MIXTURES, ("shared_experts", "shared_expert", "shared_mlp")), _FFN[what])
    if kind == "ffn":
        return (*_joined(_DENSE, _FFN[what]), *_BARE.get(what, ()))
    owner = place.param.owner
    above = owner.parent.name if owner.parent else ""
    spelled = _joined(_INNER.get(above, (above,)), _OTHER.get(owner.name, (owner.name,)))
    return (*spelled, *_WHOLE.get((above, owner.name), ()))


def _joined(above: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{one}.{name}" for one in above for name in names)
