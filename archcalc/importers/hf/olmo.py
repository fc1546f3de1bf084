"""OLMo (norms without weights), OLMo 2 and 3 (norms behind the branches, and over all queries and keys), EXAONE 4."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, every, layer_types, sliding
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("olmo", "olmo2", "olmo3", "exaone4")
USUAL = "causal"
INERT = "clip_qkv sliding_window_pattern"


def translate(c: Config, task: str) -> Fields:
    attention: Fields = {"bias": c.flag("attention_bias")}
    if c.type == "olmo":
        return decoder(c, task, attention=attention, norm={"kind": "layer", "affine": False})
    attention["qk_norm"] = "head" if c.type == "exaone4" else "all"
    layers: Fields = {}
    if c.type in ("olmo3", "exaone4"):
        window = c.given("sliding_window")
        free = {"position": "none"} if c.type == "exaone4" and window is not None else None
        usual = _layers(c) if c.words("layer_types") is None else []
        layers = sliding(c, layer_types(c, usual), window, full=free)
    return decoder(c, task, attention=attention, norm={"kind": "rms", "place": "out"}, **layers)


def _layers(c: Config) -> list[str]:
    """Every fourth block looks at everything; in EXAONE 4 another interval, or all where nothing slides."""
    if c.type == "exaone4" and c.given("sliding_window") is None:  # transformers divides by zero here
        return ["full_attention"] * c.size("num_hidden_layers")
    return every(c, 4 if c.type == "olmo3" else c.get("sliding_window_pattern"))
