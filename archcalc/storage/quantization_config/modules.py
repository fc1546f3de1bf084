"""What modules are called in checkpoints: `model.layers.3.self_attn.q_proj`, by what they do.

Families spell them in several ways. A list of modules is matched with all spellings, of which a checkpoint has one.
"""

from __future__ import annotations

from archcalc.core.roles import SHARED, TABLES, Role
from archcalc.storage.places import Place

_FUSED = ("qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack")
_ATTENTION = {
    Role.ATTENTION_Q: ("q_proj", "query", "wq", *_FUSED),
    Role.ATTENTION_K: ("k_proj", "key", "wk", *_FUSED),
    Role.ATTENTION_V: ("v_proj", "value", "wv", *_FUSED),
    Role.ATTENTION_OUT: ("o_proj", "out_proj", "dense", "wo", "c_proj"),
    Role.ATTENTION_Q_DOWN: ("q_a_proj",),
    Role.ATTENTION_Q_UP: ("q_b_proj",),
    Role.ATTENTION_KV_DOWN: ("kv_a_proj_with_mqa",),
    Role.ATTENTION_KV_UP: ("kv_b_proj",),
    Role.ATTENTION_GATE: ("gate_proj", "g_proj", "output_gate"),
}
_FFN = {
    Role.FFN_GATE: ("gate_proj", "w1", "gate_up_proj"),
    Role.FFN_UP: ("up_proj", "w3", "gate_up_proj", "fc1", "c_fc", "dense_h_to_4h"),
    Role.FFN_DOWN: ("down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h"),
}
_BARE = {Role.FFN_UP: ("fc1",), Role.FFN_DOWN: ("fc2",)}  # OPT and BART have them directly in a layer
_MIXERS = {
    Role.MAMBA_IN: ("in_proj",),
    Role.MAMBA_SELECT: ("x_proj",),
    Role.MAMBA_DT: ("dt_proj",),
    Role.MAMBA_OUT: ("out_proj",),
    Role.LATENT_IN: ("fc1_latent_proj",),
    Role.LATENT_OUT: ("fc2_latent_proj",),
}
_DELTA = {
    Role.DELTA_IN: ("in_proj", "in_proj_qkvz", "in_proj_qkv", "in_proj_z"),
    Role.DELTA_RATES: ("in_proj_ba", "in_proj_a", "in_proj_b"),
    Role.DELTA_GATES: ("f_a_proj", "f_b_proj", "g_a_proj", "g_b_proj", "g_proj", "b_proj"),
    Role.DELTA_OUT: ("out_proj", "o_proj"),
}
_WHOLE = {  # with what stands before them
    Role.ROUTER: ("mlp.gate", "mlp.router"),
    Role.SHARED_SCALE: ("mlp.shared_expert_gate",),
    Role.INDEXER_Q: ("self_attn.indexer.wq_b",),
    Role.INDEXER_K: ("self_attn.indexer.wk",),
    # GLM 5's lists drop `.weight` wherever it stands
    Role.INDEXER_WEIGHTS: ("self_attn.indexer.weights_proj", "self_attn.indexers_proj"),
    **dict.fromkeys((Role.HEAD, Role.CLASSIFIER), ("lm_head",)),
    **dict.fromkeys(TABLES, ("embed_tokens", "wte", "word_embeddings", "tok_embeddings", "embeddings")),
}
_IN_ATTENTION = ("self_attn", "attention", "attn", "self_attention", "mixer")
_IN_EXPERTS = ("mlp", "block_sparse_moe", "feed_forward", "moe", "mixer")
_IN_FFN = ("mlp", "feed_forward", "ffn", "mixer")


def modules(place: Place) -> tuple[str, ...]:
    """Every spelling of the module that holds a matrix, as it is called in a layer or, for the head, in the model."""
    role = place.role
    if role.plain in _ATTENTION:
        return _joined(_IN_ATTENTION, _ATTENTION[role.plain])
    if role.plain in _FFN:
        return _feed_forward(role)
    if role in _MIXERS:
        return _joined(("mamba", "mixer"), _MIXERS[role])
    return _joined(("linear_attn", "self_attn"), _DELTA[role]) if role in _DELTA else _WHOLE.get(role, ())


def _feed_forward(role: Role) -> tuple[str, ...]:
    names = _FFN[role.plain]
    if role.is_expert:
        return _joined(_joined(_IN_EXPERTS, ("experts.0", "experts")), names)
    if role in SHARED:
        return _joined(_joined(_IN_EXPERTS, ("shared_experts", "shared_expert", "shared_mlp")), names)
    return (*_joined(_IN_FFN, names), *_BARE.get(role, ()))


def _joined(above: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{one}.{name}" for one in above for name in names)
