"""The text models of Gemma 4: global blocks with heads of their own sizes, and blocks that read earlier keys."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    activation,
    decoder,
    even_heads,
    ffn,
    inert,
    local_rope,
    rope,
    top,
    when,
)
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, every, layer_types, of_blocks, stack

INERT = {
    "_text": {
        inert.NOT_HERE: "num_experts top_k_experts moe_intermediate_size vocab_size_per_layer_input "
        "use_double_wide_mlp",
    }
}
_WORDS = {SLIDING: "local", FULL: "full"}
_SIZES = {"head_dim": "head_dim", "num_key_value_heads": "kv_heads"}  # what blocks may have of their own


def _text(c: Config) -> Fields:
    """Norms before and after each part, norms of queries, keys and values; sliding windows in most blocks."""
    layers, shared = _layers(c), _shared(c)
    own, late = layers[: len(layers) - shared], layers[len(layers) - shared :]
    if not set(late) <= set(own):
        raise c.refused("num_kv_shared_layers", "a block would read keys that no block before it makes")
    wide = _wide(c) if shared else {}
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "head", "v_norm": {"over": "head", "affine": False}}
    dense = next(iter(wide), "ffn")
    lines = [f"{_WORDS[layer]} ffn" for layer in own] + [f"late_{_WORDS[layer]} {dense}" for layer in late]
    found = decoder(
        c,
        head_dim=_head_dim(c),
        attention=attention,
        ffn=ffn(c, act="hidden_activation"),
        norm={"kind": "rms", "place": "sandwich"},
        block_scale=True,
        position=rope(c, _width(c, FULL, layers), layer=FULL),
        variants=_attentions(c, layers) | _late(late) | wide,
        **_beside(c),
        **_per_layer(c),
        decoder=stack([line + _behind(c) for line in lines]),
    )
    if c.given("use_bidirectional_attention") == "all":  # with half a window on each side and no KV cache
        found["encoder"] = found.pop("decoder")
    return found


def _wide(c: Config) -> Fields:
    """The feed-forward layer of blocks that read earlier keys, where it is twice as wide."""
    twice = {"like": "ffn", "width": 2 * c.size("intermediate_size")}
    return when(c.flag("use_double_wide_mlp"), wide=twice)


def _head_dim(c: Config) -> int:
    return c.size_or("head_dim", even_heads(c))


def _layers(c: Config) -> list[str]:
    """The last block looks at all positions, whatever the file says."""
    return [*layer_types(c, every(c, 6))[:-1], FULL]


def _shared(c: Config) -> int:
    """How many of the last blocks read the keys and values of earlier ones."""
    blocks, shared = c.size("num_hidden_layers"), c.count("num_kv_shared_layers")
    if shared >= blocks:
        raise c.refused("num_kv_shared_layers", f"of {blocks} blocks some must make the keys that others read")
    return shared


def _width(c: Config, layer: str, layers: list[str]) -> int:
    """Of the heads of a kind of blocks."""
    width: int = _own_sizes(c, layers)[layer].get("head_dim", _head_dim(c))
    return width


def _own_sizes(c: Config, layers: list[str]) -> dict[str, Fields]:
    """Sizes that differ in a kind of blocks: by block in newer files, of global blocks in older ones."""
    told = of_blocks(c)
    if told is None:
        wide, few = c.size_or("global_head_dim", 512), c.given("num_global_key_value_heads")
        heads = when(few is not None and c.flag("attention_k_eq_v"), kv_heads=few)
        return {SLIDING: {}, FULL: {"head_dim": wide, **heads}}
    c.skip("global_head_dim", "num_global_key_value_heads")
    found = {}
    for kind in (SLIDING, FULL):
        alike = [_told(c, told, block) for block, layer in enumerate(layers) if layer == kind]
        if any(one != alike[0] for one in alike):
            raise c.refused(
                "per_layer_config", f"blocks of {kind} differ among themselves, which the class cannot build"
            )
        found[kind] = alike[0] if alike else {}
    return found


def _told(c: Config, told: dict[int, Any], block: int) -> Fields:
    """Of one block."""
    said = told.get(block, {})
    if not isinstance(said, dict) or not said.keys() <= _SIZES.keys():
        raise c.wrong("per_layer_config", "for each block a mapping of head_dim and num_key_value_heads")
    if not all(isinstance(size, int) and size > 0 for size in said.values()):
        raise c.wrong("per_layer_config", "sizes above 0")
    return {_SIZES[name]: size for name, size in said.items()}


def _attentions(c: Config, layers: list[str]) -> Fields:
    """The kinds of attention that some block has, as variants of one."""
    sizes = _own_sizes(c, layers)
    window = when(c.given("sliding_window"), window=c.given("sliding_window"))
    local = {**window, **local_rope(c, _width(c, SLIDING, layers)), **sizes[SLIDING]}
    full = {**sizes[FULL], **when(c.flag("attention_k_eq_v"), values="keys")}
    said = {SLIDING: local, FULL: full}
    return {_WORDS[kind]: {"like": "attention", **said[kind]} for kind in said if kind in layers}


def _late(layers: list[str]) -> Fields:
    """Those that read the keys and values of an earlier block of their kind."""
    words = [word for kind, word in _WORDS.items() if kind in layers]
    return {f"late_{word}": {"like": word, "kv_of": word} for word in words}


def _beside(c: Config) -> Fields:
    """Experts beside the dense layer of every block, each between norms of its own."""
    if not c.flag("enable_moe_block"):
        return {}
    number, act = c.size("num_experts"), activation(c, "hidden_activation")
    sizes = {"experts": number, "top": top(c, number, "top_k_experts"), "width": c.size("moe_intermediate_size")}
    return {"beside": "separate", "moe": {**sizes, "act": act, "router_norm": True, "expert_scale": True}}


def _behind(c: Config) -> str:
    """What stands beside the dense layer of a block, and behind it."""
    return c.choose("enable_moe_block", "+moe", "") + " per_layer" * bool(_per_layer(c))


def _per_layer(c: Config) -> Fields:
    """A second table of tokens, with a vector for every block."""
    if "hidden_size_per_layer_input" not in c.declared or not c.get("hidden_size_per_layer_input"):
        return {}
    rows = c.size("vocab_size_per_layer_input")
    said = {"width": c.size("hidden_size_per_layer_input"), "act": activation(c, "hidden_activation")}
    return {"per_layer": {**said, **when(rows != c.size("vocab_size"), vocab=rows), "norm": {"place": "out"}}}


TYPES = {"gemma4_text": _text, "gemma4_unified_text": _text}
