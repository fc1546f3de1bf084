"""EXAONE 4: norms after each sublayer and QK norm; full-attention blocks have no RoPE where others have a window."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, when
from archcalc.importers.hf._helpers.layer_types import every, full, layer_types, sliding

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config) -> Fields:
    window = c.given("sliding_window")
    free = when(window is not None, position="none")
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        norm={"kind": "rms", "place": "out"},
        **sliding(c, layer_types(c, _usual(c)), window, full=free),
    )


def _usual(c: Config) -> list[str]:
    if c.words("layer_types") is not None:
        return []
    if c.given("sliding_window") is None:  # transformers divides by zero here
        return full(c)
    return every(c, c.get("sliding_window_pattern"))
