"""Text model of Gemma 3, and EmbeddingGemma: five sliding-window blocks to one full block, with separate RoPE bases."""

from archcalc.importers.hf._helpers import Config, Fields, gemma_like, head_dim, inert, local_rope, rope
from archcalc.importers.hf._helpers.layer_types import FULL, every, layer_types, sliding

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern", inert.RUNNING: "use_bidirectional_attention"}


def translate(c: Config) -> Fields:
    layers = layer_types(c, every(c, c.given("sliding_window_pattern") or 6))
    found = gemma_like.gemma(
        c,
        qk_norm="head",
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, head_dim(c), layer=FULL),
        **sliding(c, layers, c.given("sliding_window"), **local_rope(c, head_dim(c))),
    )
    if c.flag("use_bidirectional_attention"):  # EmbeddingGemma, with half a window on each side and no KV cache
        found["encoder"] = found.pop("decoder")
    return found
