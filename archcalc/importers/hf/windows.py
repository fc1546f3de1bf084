"""Dense decoders with sliding windows in some blocks."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, inert, when
from archcalc.importers.hf._helpers.layer_types import (
    SLIDING,
    every,
    first_of_every,
    full,
    full_where,
    layer_types,
    sliding,
    sliding_from,
    stack,
)

INERT = {
    "cohere": {inert.USUAL_LAYERS: "sliding_window_pattern"},
    "exaone4": {inert.USUAL_LAYERS: "sliding_window_pattern"},
}


def cohere(c: Config, *, slides: bool = False) -> Fields:
    """Command R, Command R7B and Command A: attention and FFN in parallel after one LayerNorm without bias.

    `slides`: most blocks have a sliding window, and only those RoPE."""
    attention = {"bias": c.flag("attention_bias"), **when(c.flag("use_qk_norm"), qk_norm="heads")}
    layers: Fields = {}
    if slides:
        usual = every(c, c.given("sliding_window_pattern") or 4)
        layers = sliding(c, layer_types(c, usual), c.given("sliding_window"), full={"position": "none"})
    return decoder(c, attention=attention, norm={"kind": "layer", "bias": False}, parallel="shared", **layers)


def cwm(c: Config) -> Fields:
    """Code World Model: Llama with sliding-window attention in three of four blocks."""
    layers = sliding(c, layer_types(c, first_of_every(c, 4)), c.given("sliding_window"))
    return decoder(c, ffn=ffn(c, bias=c.flag("mlp_bias")), **layers)


def exaone4(c: Config) -> Fields:
    """EXAONE 4: norms after each sublayer and QK norm; full-attention blocks have no RoPE where others
    have a window."""
    window = c.given("sliding_window")
    free = when(window is not None, position="none")
    usual = full(c)  # without a window, where transformers divides by zero
    if c.words("layer_types") is None and window is not None:
        usual = every(c, c.get("sliding_window_pattern"))
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        norm={"kind": "rms", "place": "out"},
        **sliding(c, layer_types(c, usual), window, full=free),
    )


def ministral(c: Config) -> Fields:
    """Ministral: Llama with sliding-window attention in the blocks that layer_types lists, or in all of them."""
    window = c.given("sliding_window")
    usual = sliding_from(c, 0, slides=window is not None)
    return decoder(c, ffn=ffn(c, bias=c.flag("mlp_bias")), **sliding(c, layer_types(c, usual), window))


def olmo3(c: Config) -> Fields:
    """OLMo 3: OLMo 2 with sliding-window attention in three of four blocks."""
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "all"},
        norm={"kind": "rms", "place": "out"},
        **sliding(c, layer_types(c, every(c, 4)), c.given("sliding_window")),
    )


def smollm3(c: Config) -> Fields:
    """SmolLM3: Llama without position embeddings (NoPE) in every fourth block."""
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


TYPES = {"cohere2": partial(cohere, slides=True)}
