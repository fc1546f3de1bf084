"""Text model of Llama 4: routed experts and a shared expert in some blocks, chunked attention with RoPE in most."""

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, ffn, when, where_used
from archcalc.importers.hf._helpers.layer_types import FULL, full_where, layer_types, paired
from archcalc.importers.hf._helpers.moe import mixture, sparse_where

_CHUNKED = "chunked_attention"
_WORDS = {  # by whether a block looks at chunks, and whether it has positions
    (True, True): "chunked",
    (True, False): "chunked_free",
    (False, True): "rotated",
    (False, False): "free",
}


def translate(c: Config) -> Fields:
    rotated, step = _rotated(c), c.size("interleave_moe_layer_step")
    sparse = c.given_or("moe_layers", range(step - 1, c.size("num_hidden_layers"), step))
    usual = full_where(c, lambda block: not rotated[block], _CHUNKED)
    layers = layer_types(c, usual, known=(_CHUNKED, FULL))
    words = [_WORDS[layer == _CHUNKED, bool(rope)] for layer, rope in zip(layers, rotated, strict=True)]
    parts = sparse_where(c, lambda block: block in sparse)
    fields = decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        **where_used(parts, ffn=lambda: ffn(c, "intermediate_size_mlp"), moe=lambda: _experts(c)),
        variants={word: said for word, said in _variants(c).items() if word in words},
        decoder=paired(words, parts),
    )
    c.skip("intermediate_size", "intermediate_size_mlp", "num_local_experts", "num_experts_per_tok", "hidden_act")
    return fields


def _variants(c: Config) -> dict[str, Fields]:
    qk_norm = when(c.flag("use_qk_norm"), qk_norm={"over": "head", "affine": False})
    chunk = when(c.given("attention_chunk_size"), chunk=c.given("attention_chunk_size"))
    return {
        "rotated": {"like": "attention", **qk_norm},
        "chunked": {"like": "attention", **qk_norm, **chunk},
        "chunked_free": {"like": "attention", "position": "none", **chunk},
        "free": {"like": "attention", "position": "none"},
    }


def _rotated(c: Config) -> list[int]:
    blocks, every = c.size("num_hidden_layers"), c.get("no_rope_layer_interval")
    said = c.get("no_rope_layers")
    if not said:
        return [int((block + 1) % every != 0) for block in range(blocks)]
    if not isinstance(said, list) or len(said) != blocks:
        raise c.wrong("no_rope_layers", f"a list of {blocks} numbers")
    return said


def _experts(c: Config) -> Fields:
    width = c.size("intermediate_size")
    return mixture(c, c.size("num_local_experts"), width, shared=width)


def unused_flops(module: Value, config: Value, flops: int) -> int:
    """The class computes all experts for every token, and multiplies the unselected ones by zero."""
    if type(module).__name__ != "Llama4TextExperts":
        return 0
    experts, chosen = int(module.num_experts), int(config.num_experts_per_tok)
    return flops // experts * (experts - chosen)
