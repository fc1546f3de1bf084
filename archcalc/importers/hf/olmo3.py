"""OLMo 3: OLMo 2 with sliding-window attention in three of four blocks."""

from archcalc.importers.hf._helpers import Config, Fields, decoder
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding


def translate(c: Config) -> Fields:
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "all"},
        norm={"kind": "rms", "place": "out"},
        **sliding(c, layer_types(c, every(c, 4)), c.given("sliding_window")),
    )
