"""EXAONE MoE: QK norm; most blocks use sliding windows, and only those use RoPE."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.layer_types import every, full, layer_types, sliding
from archcalc.importers.hf._helpers.moe import first_dense, listed, mixture, used
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.USUAL_LAYERS: "sliding_window_pattern", inert.NOT_HERE: "sliding_window"}


def translate(c: Config, task: str) -> Fields:
    parts, window = listed(c, first_dense(c)), c.given("sliding_window")
    free = {"position": "none"} if window is not None else None
    layers = layer_types(c, _usual(c) if c.words("layer_types") is None else [])
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: _experts(c)),
        **sliding(c, layers, window, full=free, part=parts),
    )


def _usual(c: Config) -> list[str]:
    if c.given("sliding_window") is None:  # transformers divides by zero here
        return full(c)
    return every(c, c.get("sliding_window_pattern") or 1)


def _experts(c: Config) -> Fields:
    width = c.size("moe_intermediate_size")
    shared = c.count("num_shared_experts") * width
    return mixture(c, c.size("num_experts"), width, shared=shared, correction=True)
