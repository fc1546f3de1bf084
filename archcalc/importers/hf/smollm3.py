"""SmolLM3: Llama without position embeddings (NoPE) in every fourth block."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn
from archcalc.importers.hf._helpers.layer_types import SLIDING, full_where, layer_types
from archcalc.importers.hf._helpers.patterns import stack


def translate(c: Config) -> Fields:
    rotated, window = _rotated(c), c.given("sliding_window")
    slides = c.flag("use_sliding_window") and window is not None
    layers = layer_types(c, full_where(c, lambda block: not slides or rotated[block]))
    variants = {
        "free": {"like": "attention", "position": "none"},
        "local": {"like": "attention", "window": window},
        "local_free": {"like": "attention", "window": window, "position": "none"},
    }
    local = [layer == SLIDING and bool(window) for layer in layers]
    known = {(False, True): "attention", (False, False): "free", (True, True): "local", (True, False): "local_free"}
    words = [known[sees, bool(rope)] for sees, rope in zip(local, rotated, strict=True)]
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        variants={word: said for word, said in variants.items() if word in words},
        decoder=stack([f"{word} ffn" for word in words]),
    )


def _rotated(c: Config) -> list[int]:
    """One number per block: 1 with RoPE, 0 without."""
    blocks, said = c.size("num_hidden_layers"), c.get("no_rope_layers")
    if said is None:
        every = c.size("no_rope_layer_interval")
        return [int((block + 1) % every != 0) for block in range(blocks)]
    if not isinstance(said, list) or len(said) != blocks:
        raise c.wrong("no_rope_layers", f"a list of {blocks} numbers")
    c.skip("no_rope_layer_interval")
    return said
