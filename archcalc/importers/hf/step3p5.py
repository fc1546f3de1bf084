"""Step 3.5 and 3.7 Flash: experts, windows in most blocks, a gate for each head; such blocks may have more heads."""

from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, head_dim, inert, kv_heads, rope, when
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, WINDOWS, attentions, line_of, of_blocks
from archcalc.importers.hf._helpers.moe import listed, mixture, sparse_where, used

INERT = {
    inert.NO_SUCH_SIZE: "hidden_act moe_layer_freq",
    inert.NOT_HERE: "sliding_window num_local_experts share_expert_dim sink use_moe moe_layer_offset moe_every_n_layer",
    inert.ORDER: "swiglu_limits swiglu_limits_shared moe_router_scaling_factor moe_router_activation zero_centered",
    inert.RUNNING: "gating use_head_wise_attn_gate use_qk_norm use_rope_layers need_fp32_gate use_moe_router_bias",
}
_DENSE = 3  # blocks in front, where the file names none with experts


def translate(c: Config) -> Fields:
    parts, layers = listed(c, _usual_parts(c)), _layers(c)
    bias, kinds = c.flag("mlp_bias"), _kinds(c, layers)
    c.predict_by(_further(c, layers, kinds, parts))
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": "head"},
        **used(c, parts, lambda: _experts(c, bias=bias), lambda: {**ffn(c), "act": "silu", "bias": bias}),
        position=_position(c, layers, FULL),
        **attentions(kinds, parts),
    )


def _experts(c: Config, *, bias: bool) -> Fields:
    number, width = c.size("n_routed_experts"), c.size("moe_intermediate_size")
    return mixture(c, number, width, shared=c.size("share_expert_dim"), shared_bias=bias, correction=True)


def _usual_parts(c: Config) -> list[str]:
    """Older files name the blocks with experts in one word: 3,4,5."""
    said = c.given("moe_layers_enum")
    if said is None:
        return sparse_where(c, lambda block: block >= _DENSE)
    numbers = said.split(",") if isinstance(said, str) else said
    sparse = {int(number) for number in numbers if str(number).strip()}
    return sparse_where(c, lambda block: block in sparse)


def _layers(c: Config) -> list[str]:
    """Files list the layers that predict further tokens, too."""
    blocks, said = c.size("num_hidden_layers"), c.words("layer_types")
    layers = [FULL] * blocks if said is None else said[:blocks]
    if len(layers) != blocks or not set(layers) <= set(WINDOWS):
        raise c.refused("layer_types", f"it must name a kind of attention for each of {blocks} blocks")
    return layers


def _further(c: Config, layers: list[str], kinds: list[Fields], parts: list[str]) -> str | None:
    """Of blocks for multi-token prediction, whose kinds of attention a file lists behind the others; they are dense."""
    further = {*(c.words("layer_types") or ())[len(layers) :]}
    if len(further) != 1 or not further <= set(layers):
        return None
    return line_of(kinds[layers.index(further.pop())], "ffn", kinds, parts)


def _kinds(c: Config, layers: list[str]) -> list[Fields]:
    usual, of_each = c.size("num_attention_heads"), of_blocks(c)
    rest = {"kv_heads": kv_heads(c), "head_dim": head_dim(c)}
    numbers = [_heads(c, of_each, block, layer) for block, layer in enumerate(layers)]
    window = c.given("sliding_window")
    local = {**when(window, window=window), "position": _position(c, layers, SLIDING)}
    own = [when(number != usual, heads=number, **rest) for number in numbers]
    return [{**when(layer == SLIDING, **local), **more} for layer, more in zip(layers, own, strict=True)]


def _heads(c: Config, of_each: Any, block: int, layer: str) -> int:
    if of_each:
        said = of_each.get(block) or {}
        return int(said.get("num_attention_heads", c.size("num_attention_heads")))
    other = c.given("attention_other_setting") or {}
    usual = other.get("num_attention_heads", c.size("num_attention_heads"))
    if layer == FULL:
        c.skip("num_sliding_attention_heads")
        return c.size("num_attention_heads")
    return c.size_or("num_sliding_attention_heads", usual)


def _position(c: Config, layers: list[str], kind: str) -> Fields:
    """Older files have a base and a share of the head for every block."""
    thetas, shares = c.given("rope_theta"), c.given("partial_rotary_factors")
    if not (isinstance(thetas, list) or isinstance(shares, list)) or kind not in layers:
        return rope(c, head_dim(c), layer=kind)
    block = layers.index(kind)
    theta = thetas[block] if isinstance(thetas, list) else thetas
    share = shares[block] if isinstance(shares, list) else 1.0
    found: Fields = {"kind": "rope", "theta": float(theta or c.theta), "length": c.size("max_position_embeddings")}
    return {**found, **when(share != 1, fraction=share)}
