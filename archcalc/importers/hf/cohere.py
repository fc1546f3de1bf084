"""Command R, Command R7B and Command A: attention and FFN in parallel after one LayerNorm without bias."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, when
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding

TYPES: dict[str, Fields] = {"cohere": {}, "cohere2": {"slides": True}}
INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config, *, slides: bool = False) -> Fields:
    """`slides`: most blocks have a sliding window, and only those RoPE."""
    attention = {"bias": c.flag("attention_bias"), **when(c.flag("use_qk_norm"), qk_norm="heads")}
    layers: Fields = {}
    if slides:
        usual = every(c, c.given("sliding_window_pattern") or 4)
        layers = sliding(c, layer_types(c, usual), c.given("sliding_window"), full={"position": "none"})
    return decoder(c, attention=attention, norm={"kind": "layer", "bias": False}, parallel="shared", **layers)
