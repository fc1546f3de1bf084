"""EXAONE MoE: QK norm; most blocks use sliding windows, and only those use RoPE."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, when
from archcalc.importers.hf._helpers.layer_types import every, full, layer_types, sliding
from archcalc.importers.hf._helpers.moe import experts, first_dense, listed, used

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern", inert.NOT_HERE: "sliding_window"}


def translate(c: Config) -> Fields:
    parts, window = listed(c, first_dense(c)), c.given("sliding_window")
    free = when(window is not None, position="none")
    usual = full(c)  # without a window, where transformers divides by zero
    if c.words("layer_types") is None and window is not None:
        usual = every(c, c.get("sliding_window_pattern") or 1)
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "num_experts", shared="num_shared_experts", correction=True)),
        **sliding(c, layer_types(c, usual), window, full=free, part=parts),
    )
