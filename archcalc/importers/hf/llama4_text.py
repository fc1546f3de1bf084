"""Llama 4: experts beside a shared one in some blocks, chunked attention with RoPE in most."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, layer_types, top
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("llama4_text",)
USUAL = "causal"
INERT = "attn_temperature_tuning floor_scale attn_scale for_llm_compressor"


def translate(c: Config, task: str) -> Fields:
    rotated = _rotated(c)
    usual = ["chunked_attention" if rope else "full_attention" for rope in rotated]
    words = [_word(c, layer, bool(rope)) for layer, rope in zip(layer_types(c, usual), rotated, strict=True)]
    sparse = _sparse(c)
    parts = ["moe" if block in sparse else "ffn" for block in range(len(words))]
    qk_norm = {"qk_norm": {"over": "head", "affine": False}} if c.flag("use_qk_norm") else {}
    chunk = {"chunk": c.given("attention_chunk_size")} if c.given("attention_chunk_size") else {}
    variants = {
        "rotated": {"like": "attention", **qk_norm},
        "chunked": {"like": "attention", **qk_norm, **chunk},
        "chunked_free": {"like": "attention", "position": "none", **chunk},
        "free": {"like": "attention", "position": "none"},
    }
    fields = decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, "intermediate_size_mlp") if "ffn" in parts else None,
        moe=_experts(c) if "moe" in parts else None,
        variants={word: variants[word] for word in variants if word in words},
        decoder=stack([f"{word} {part}" for word, part in zip(words, parts, strict=True)]),
    )
    c.skip("intermediate_size", "intermediate_size_mlp", "num_local_experts", "num_experts_per_tok", "hidden_act")
    return fields


def _rotated(c: Config) -> list[int]:
    blocks, every = c.size("num_hidden_layers"), c.get("no_rope_layer_interval")
    said = c.get("no_rope_layers")
    if not said:
        return [int((block + 1) % every != 0) for block in range(blocks)]
    if not isinstance(said, list) or len(said) != blocks:
        raise c.wrong("no_rope_layers", f"a list of {blocks} numbers")
    return said


def _word(c: Config, layer: str, rope: bool) -> str:
    if layer not in ("chunked_attention", "full_attention"):
        raise c.refused("layer_types")
    names = {(True, True): "chunked", (True, False): "chunked_free", (False, True): "rotated", (False, False): "free"}
    return names[layer == "chunked_attention", rope]


def _sparse(c: Config) -> list[int]:
    said, step = c.get("moe_layers"), c.size("interleave_moe_layer_step")
    return list(range(step - 1, c.size("num_hidden_layers"), step)) if said is None else said


def _experts(c: Config) -> Fields:
    width, act = c.size("intermediate_size"), activation(c)
    number = c.size("num_local_experts")
    shared = {"width": width, "act": act}
    return {"experts": number, "top": top(c, number), "width": width, "act": act, "shared": shared}
