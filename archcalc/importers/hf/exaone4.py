"""EXAONE 4: norms after each sublayer and QK norm; full-attention blocks have no RoPE where others have a window."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, when
from archcalc.importers.hf._helpers.layer_types import every, full, layer_types, sliding

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern"}


def translate(c: Config) -> Fields:
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
