"""Text model of Gemma 3, and EmbeddingGemma: five sliding-window blocks to one full block, with separate RoPE bases."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import head_dim
from archcalc.importers.hf._helpers.gemma_like import gemma_like
from archcalc.importers.hf._helpers.layer_types import FULL, every, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import local_theta, rope

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern", inert.RUNNING: "use_bidirectional_attention"}


def translate(c: Config, task: str) -> Fields:
    layers = layer_types(c, every(c, c.given("sliding_window_pattern") or 6))
    local: Fields = {"position": {"kind": "rope", "theta": local_theta(c)}} if head_dim(c) % 2 == 0 else {}
    found = gemma_like(
        c,
        task,
        qk_norm="head",
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, head_dim(c), layer=FULL),
        **sliding(c, layers, c.given("sliding_window"), **local),
    )
    return _both_ways(found) if c.flag("use_bidirectional_attention") else found


def _both_ways(said: Fields) -> Fields:
    """EmbeddingGemma is bidirectional, with half a window on each side: an encoder without a KV cache."""
    return {"encoder" if name == "decoder" else name: value for name, value in said.items()}
