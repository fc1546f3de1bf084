"""SmolLM3: Llama, but every fourth block has no positions."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, layer_types
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("smollm3",)
USUAL = "causal"
INERT = ""


def translate(c: Config, task: str) -> Fields:
    rotated = _rotated(c)
    sliding = c.flag("use_sliding_window") and c.given("sliding_window") is not None
    usual = ["sliding_attention" if sliding and not rope else "full_attention" for rope in rotated]
    layers = layer_types(c, usual)
    variants = {
        "free": {"like": "attention", "position": "none"},
        "local": {"like": "attention", "window": c.given("sliding_window")},
        "local_free": {"like": "attention", "window": c.given("sliding_window"), "position": "none"},
    }
    words = [_word(layer, bool(rope), c) for layer, rope in zip(layers, rotated, strict=True)]
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        variants={word: said for word, said in variants.items() if word in words},
        decoder=stack([f"{word} ffn" for word in words]),
    )


def _rotated(c: Config) -> list[int]:
    """One number a block: 1 with RoPE, 0 without."""
    blocks, said = c.size("num_hidden_layers"), c.get("no_rope_layers")
    if said is None:
        every = c.size("no_rope_layer_interval")
        return [int((block + 1) % every != 0) for block in range(blocks)]
    if not isinstance(said, list) or len(said) != blocks:
        raise c.wrong("no_rope_layers", f"a list of {blocks} numbers")
    c.skip("no_rope_layer_interval")
    return said


def _word(layer: str, rope: bool, c: Config) -> str:
    if layer == "sliding_attention" and c.given("sliding_window"):
        return "local" if rope else "local_free"
    if layer not in ("full_attention", "sliding_attention"):
        raise c.refused("layer_types")
    return "attention" if rope else "free"
