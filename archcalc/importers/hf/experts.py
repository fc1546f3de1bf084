"""Decoders with experts in every block, or in all but the first."""

from functools import partial

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    activation,
    biased,
    decoder,
    even_heads,
    ffn,
    head_dim,
    heads,
    kv_heads,
    when,
    where_used,
    window,
)
from archcalc.importers.hf._helpers.layer_types import LINEAR, first_of_every, mixers, paired, stack
from archcalc.importers.hf._helpers.moe import (
    experts,
    first_dense,
    listed,
    mixture,
    one_dense_first,
    sparse_where,
    used,
)


def _all_sparse(c: Config, moe: Fields, **more: Value) -> Fields:
    """A decoder with experts in every block, and no FFN."""
    return decoder(c, ffn=None, moe=moe, decoder=stack(["attention moe"] * c.size("num_hidden_layers")), **more)


def mixtral(
    c: Config, *, number: str = "num_local_experts", qk_norm: str = "", norm: Value = "rms", **sizes: Value
) -> Fields:
    """Mixtral and others with MoE in every block, which differ in what else a block has.

    `number` and `sizes` are the keys of the experts' sizes."""
    moe = experts(c, number, "intermediate_size", shared_bias=c.flag("mlp_bias"), **sizes)
    attention = {"bias": c.flag("attention_bias"), **when(qk_norm, qk_norm=qk_norm), **window(c)}
    return _all_sparse(c, moe, attention=attention, norm=norm)


def ernie4_5_moe(c: Config) -> Fields:
    """ERNIE 4.5 MoE: biases everywhere or nowhere, the LM head included."""
    bias = c.flag("use_bias")
    first, last, step = c.get("moe_layer_start_index"), c.get("moe_layer_end_index"), c.size("moe_layer_interval")
    if last == -1:
        last = c.size("num_hidden_layers")
    parts = sparse_where(c, lambda block: (block + 1) % step == 0 and first <= block <= last)
    c.predict_by("attention ffn" if "ffn" in parts and not bias else None, norm=False)
    fields = decoder(
        c,
        bias=bias,
        **used(c, parts, lambda: _experts(c, bias=bias)),
        decoder=paired(["attention"] * len(parts), parts),
        head=heads.of_decoder(c, bias=bias),
    )
    c.skip("moe_k", "moe_num_experts", "moe_num_shared_experts")
    return fields


def _experts(c: Config, *, bias: bool) -> Fields:
    width, number = c.size("moe_intermediate_size"), c.size("moe_num_experts")
    several = c.count("moe_num_shared_experts")
    shared, biased = several * width, bias and several > 0
    return mixture(c, number, width, shared=shared, shared_bias=biased, per_token="moe_k", correction="frozen")


def glm4_moe(c: Config) -> Fields:
    """GLM-4.5 and Solar Open: biases on q, k and v, dense blocks first if any, then MoE with a shared expert."""
    parts = first_dense(c)
    normed = when(c.flag("use_qk_norm"), qk_norm="head")
    return decoder(
        c,
        attention={"bias": biased(qkv=c.flag("attention_bias")), **normed},
        **used(c, parts, lambda: experts(c, "n_routed_experts", shared="n_shared_experts", correction=True)),
        decoder=paired(["attention"] * len(parts), parts),
    )


def hy_v3(c: Config) -> Fields:
    """Hunyuan 3: QK norm, one dense block first, then MoE blocks with routed and shared experts."""
    parts, bias = listed(c, one_dense_first(c)), c.flag("mlp_bias")
    shared: Fields = {"shared": "num_shared_experts", "shared_bias": bias}
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "num_experts", **shared, correction=True), lambda: ffn(c, bias=bias)),
        decoder=paired(["attention"] * len(parts), parts),
    )


def minimax(c: Config) -> Fields:
    """MiniMax-01: alternating lightning and softmax attention, MoE in every block, residuals taken after the norm.

    The residual is taken after each input norm, so every norm acts on the previous residual sum or on the embedding.
    That is a norm after each sum, and the last is the class's final norm."""
    found = mixers(c, first_of_every(c, 2, other=LINEAR), "lightning")
    c.skip("sliding_window", "block_size")
    return decoder(
        c,
        ffn=None,
        **where_used(found, attention=lambda: window(c), lightning=lambda: _lightning(c)),
        moe=mixture(c, c.size("num_local_experts"), c.size("intermediate_size")),
        norm={"kind": "rms", "place": "post"},
        embedding={"norm": True},
        decoder=stack([f"{mixer} moe" for mixer in found]),
    )


def _lightning(c: Config) -> Fields:
    c.notes.append("lightning attention's decay buffers, which have the size of a chunk, are not counted")
    return {"head_dim": head_dim(c), "act": activation(c), "chunk": c.size("block_size")}


def olmoe(c: Config) -> Fields:
    """OLMoE: QK norm over all heads together, MoE in every block.

    The class sizes its QK norms by hidden_size, whatever the head size."""
    moe = experts(c, "num_experts", "intermediate_size")
    qk_norm: Value = "all"
    if head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        qk_norm = {"over": "all", "width": [c.size("hidden_size"), even_heads(c) * kv_heads(c)]}
        c.notes.append("QK norms have a different size than queries or keys: this model can be built but not run")
    return _all_sparse(c, moe, attention={"bias": c.flag("attention_bias"), "qk_norm": qk_norm})


def phimoe(c: Config) -> Fields:
    """Phi MoE: experts in every block, LayerNorm, optional bias on the LM head."""
    number, width = c.size("num_local_experts"), c.size("intermediate_size")
    if c.get("num_experts_per_tok") == 2:
        moe = mixture(c, number, width)
    else:
        c.notes.append("transformers' PhiMoE ignores num_experts_per_tok: its router always selects two experts")
        moe = {"experts": number, "top": min(2, number), "width": width, "act": activation(c)}
    return _all_sparse(
        c,
        moe,
        attention={"bias": c.flag("attention_bias"), **window(c)},
        norm="layer",
        head=heads.of_decoder(c, bias=c.flag("lm_head_bias")),
    )


TYPES = {
    "aria_text": partial(mixtral, number="moe_num_experts", shared="moe_num_shared_experts", per_token="moe_topk"),
    "flex_olmo": partial(mixtral, number="num_experts", qk_norm="all", norm={"kind": "rms", "place": "out"}),
    "granitemoe": mixtral,
    "granitemoeshared": partial(mixtral, shared_width="shared_intermediate_size"),
    "hunyuan_v1_moe": partial(mixtral, number="num_experts", qk_norm="head", shared_width="intermediate_size"),
    "minimax_m2": partial(mixtral, qk_norm="all", correction=True),
    "glm4v_moe_text": glm4_moe,
    "solar_open": glm4_moe,
}
