"""Decoders with experts, and with sliding windows in some blocks."""

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    biased,
    decoder,
    ffn,
    head_dim,
    inert,
    kv_heads,
    local_theta,
    rope,
    top,
    when,
    window,
)
from archcalc.importers.hf._helpers.layer_types import (
    FULL,
    SLIDING,
    attentions,
    every,
    full,
    full_where,
    layer_types,
    line_of,
    sliding,
    sliding_from,
)
from archcalc.importers.hf._helpers.moe import (
    all_sparse,
    experts,
    first_dense,
    listed,
    mixture,
    one_dense_first,
    sparse_where,
    used,
)

INERT = {
    "afmoe": {inert.USUAL_LAYERS: "global_attn_every_n_layers", inert.NOT_HERE: "sliding_window"},
    "cohere2_moe": {
        inert.USUAL_LAYERS: "first_k_dense_replace prefix_dense_sliding_window_pattern sliding_window_pattern",
        inert.NOT_HERE: "sliding_window prefix_dense_intermediate_size",
    },
    "dots1": {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "sliding_window"},
    "exaone_moe": {inert.USUAL_LAYERS: "sliding_window_pattern", inert.NOT_HERE: "sliding_window"},
    "flint": {inert.NOT_HERE: "sliding_window"},
    "gpt_oss": {inert.NO_SUCH_SIZE: "initial_context_length", inert.NOT_HERE: "hidden_act"},
    "kolibri1": {inert.NOT_HERE: "sliding_window"},
    "laguna": {inert.NOT_HERE: "sliding_window"},
    "mellum": {inert.NOT_HERE: "sliding_window"},
    "mimo_v2_flash": {inert.NOT_HERE: "sliding_window sliding_window_size"},
}
_SHARED = "shared_expert_intermediate_size"


def afmoe(c: Config) -> Fields:
    """AFMoE (Trinity): MoE with gated attention outputs; most blocks use sliding windows, and only those use RoPE."""
    parts, layers = first_dense(c, "num_dense_layers"), layer_types(c, every(c, c.size("global_attn_every_n_layers")))
    kinds = {SLIDING: window(c), FULL: {"position": "none"}}  # only sliding-window blocks have RoPE
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": "own"},
        **used(c, parts, lambda: experts(c, "num_experts", shared="num_shared_experts", correction="frozen")),
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, head_dim(c), layer=FULL),
        **attentions([kinds[layer] for layer in layers], parts),
    )


def cohere2_moe(c: Config) -> Fields:
    """Command A MoE: attention and FFN in parallel after one norm, dense blocks first, sliding windows in
    most blocks."""
    blocks, first = c.size("num_hidden_layers"), c.given("first_k_dense_replace") or 0
    parts = listed(c, ["ffn"] * min(first, blocks) + ["moe"] * (blocks - first))
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        **used(
            c,
            parts,
            lambda: experts(c, "num_experts", "intermediate_size", shared="num_shared_experts"),
            lambda: {**ffn(c), "width": c.size_or("prefix_dense_intermediate_size", c.size("intermediate_size"))},
        ),
        norm={"kind": "layer", "bias": False},
        parallel="shared",
        position=rope(c, head_dim(c)),
        **attentions(_kinds(c, parts, first), parts),
    )


def _kinds(c: Config, parts: list[str], first: int) -> list[Fields]:
    """Full-attention blocks have no RoPE, unless they are dense and all dense blocks use full attention."""
    early, later = c.size("prefix_dense_sliding_window_pattern"), c.size("sliding_window_pattern")
    blocks = len(parts)
    numbers = [(block, early) for block in range(first)] + [(block, later) for block in range(blocks)]
    numbered = [(number + 1) % period == 0 for number, period in numbers[:blocks]]
    layers = layer_types(c, full_where(c, lambda block: numbered[block]))
    window = c.given("sliding_window")
    local, free = when(window, window=window), {"position": "none"}
    forced = [part == "ffn" and early == 1 for part in parts]
    return [local if layer == SLIDING else when(not keeps, **free) for layer, keeps in zip(layers, forced, strict=True)]


def dots1(c: Config) -> Fields:
    """dots.llm1: QK norm, dense blocks first, then MoE blocks with routed and shared experts."""
    parts, window = first_dense(c), c.given("sliding_window")
    usual = sliding_from(c, c.get("max_window_layers"), slides=window is not None)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "n_routed_experts", shared="n_shared_experts", correction=True)),
        **sliding(c, layer_types(c, usual), window, part=parts),
    )


def exaone_moe(c: Config) -> Fields:
    """EXAONE MoE: QK norm; most blocks use sliding windows, and only those use RoPE."""
    parts, window = listed(c, first_dense(c)), c.given("sliding_window")
    free = when(window is not None, position="none")
    usual = full(c)  # without a window, where transformers divides by zero
    if c.words("layer_types") is None and window is not None:
        usual = every(c, c.get("sliding_window_pattern") or 1)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "num_experts", shared="num_shared_experts", correction=True)),
        **sliding(c, layer_types(c, usual), window, full=free, part=parts),
    )


def flint(c: Config) -> Fields:
    """Flint: attention sinks, QK norm, sliding windows in most blocks, MoE in some blocks."""
    dense, step = c.given_or("mlp_only_layers", [0, 1]), c.size("decoder_sparse_step")
    parts = sparse_where(c, lambda block: block not in dense and (block + 1) % step == 0)
    last = c.size("num_hidden_layers") - 1
    usual = full_where(c, lambda block: block < 2 or block % 4 == 1 or block == last)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "sinks": True},
        **used(c, parts, lambda: experts(c, "num_experts", shared_width=_SHARED)),
        **sliding(c, layer_types(c, usual), c.given("sliding_window"), part=parts),
    )


def gpt_oss(c: Config) -> Fields:
    """gpt-oss: attention sinks, alternating sliding-window and full attention, MoE with biases on experts
    and router."""
    number = c.size("num_local_experts")
    width = c.size("intermediate_size")
    return decoder(
        c,
        ffn=None,
        moe={"experts": number, "top": top(c, number), "width": width, "bias": True, "router_bias": True},
        attention={"bias": c.flag("attention_bias"), "sinks": True},
        **sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"), part="moe"),
    )


def kolibri1(c: Config) -> Fields:
    """Kolibri 1: MoE with norms before and after each sublayer; most blocks have a sliding window, and
    only those RoPE."""
    parts, window = listed(c, all_sparse(c)), c.given("sliding_window")
    free = when(window is not None, position="none")
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "num_experts", shared_width=_SHARED, correction=True)),
        norm={"kind": "rms", "place": "sandwich"},
        **sliding(c, layer_types(c, every(c, 5)), window, full=free, part=parts),
    )


def laguna(c: Config) -> Fields:
    """Laguna: MoE with gated attention outputs, head counts that vary by block, a router with frozen
    correction biases."""
    parts = listed(c, one_dense_first(c))
    gate = {True: "head", False: "own"}[c.get("gating") in (True, "per-head")]  # one for each head, or each channel
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": gate},
        **used(c, parts, lambda: experts(c, "num_experts", shared_width=_SHARED, correction="frozen")),
        position=rope(c, head_dim(c), layer=FULL),
        **attentions(_laguna_kinds(c), parts),
    )


def _laguna_kinds(c: Config) -> list[Fields]:
    """Sliding-window blocks rotate whole heads with their own RoPE base; head counts may differ by block."""
    local: Fields = {**window(c), "position": rope(c, head_dim(c), layer=SLIDING)}
    layers, usual = layer_types(c, full(c)), c.size("num_attention_heads")
    rest = {"kv_heads": kv_heads(c), "head_dim": head_dim(c)}
    numbers = c.get("num_attention_heads_per_layer") or [usual] * len(layers)
    own = [when(number != usual, heads=number, **rest) for number in numbers]
    return [{**when(layer == SLIDING, **local), **more} for layer, more in zip(layers, own, strict=True)]


def mellum(c: Config) -> Fields:
    """Mellum: MoE with QK norm; sliding-window blocks have their own RoPE base."""
    parts, local = listed(c, all_sparse(c)), {"kind": "rope", "theta": local_theta(c)}
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: mixture(c, c.size("num_experts"), c.size("moe_intermediate_size"))),
        position=rope(c, head_dim(c), layer=FULL),
        **sliding(c, layer_types(c, full(c)), c.given("sliding_window"), part=parts, position=local),
    )


def mimo_v2_flash(c: Config) -> Fields:
    """MiMo-V2-Flash: MoE; sliding-window blocks have attention sinks and twice the KV heads; v_head_dim is separate."""
    parts, kinds = listed(c, one_dense_first(c)), _mimo_kinds(c)
    c.predict_by(line_of(next(filter(None, kinds), {}), "ffn", kinds, parts))  # with a window
    return decoder(
        c,
        attention={"bias": biased(qkv=c.flag("attention_bias")), "v_dim": c.size("v_head_dim")},
        **used(c, parts, lambda: experts(c, "n_routed_experts", correction=True)),
        position=rope(c, head_dim(c), layer=FULL),
        **attentions(kinds, parts),
    )


def _mimo_kinds(c: Config) -> list[Fields]:
    """Full attention in the first block and every sixth."""
    usual = [FULL, *every(c, 6)[1:]]
    wide, narrow = c.given("sliding_window_size"), window(c)
    if wide is not None:
        narrow = {"window": wide + 1}
    local = {
        "kv_heads": 2 * kv_heads(c),
        **narrow,
        "sinks": True,
        "position": rope(c, head_dim(c), layer=SLIDING),
    }
    return [when(layer == SLIDING, **local) for layer in layer_types(c, usual)]
