"""Command R: parallel branches behind one norm, a layer norm without bias."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, every, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("cohere", "cohere2")
USUAL = "causal"
INERT = "logit_scale sliding_window_pattern"


def translate(c: Config, task: str) -> Fields:
    attention: Fields = {"bias": c.flag("attention_bias")}
    if c.type == "cohere" and c.flag("use_qk_norm"):
        attention["qk_norm"] = "heads"
    layers: Fields = {}
    if c.type == "cohere2":
        local = layer_types(c, every(c, c.given("sliding_window_pattern") or 4))
        layers = sliding(c, local, c.given("sliding_window"), full={"position": "none"})
    norm = {"kind": "layer", "bias": False}
    return decoder(c, task, attention=attention, norm=norm, parallel="shared", **layers)
