"""GPT-Neo: GPT-2 with alternating local attention; in attention only the output projection has a bias."""

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, decoder
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, sliding

_LAYERS = {"global": FULL, "local": SLIDING}
_USUAL_TYPES: Value = [[["global", "local"], 12]]


def translate(c: Config) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_heads")
    width = c.size_or("intermediate_size", 4 * d_model)
    return decoder(
        c,
        kv_heads=number,
        head_dim=d_model // number,
        attention={"bias": ["o"]},
        ffn={"width": width, "act": activation(c, "activation_function"), "gated": False},
        norm="layer",
        bias=True,
        position={"kind": "learned", "length": c.size("max_position_embeddings")},
        **sliding(c, _layers(c), c.size("window_size")),
    )


def _layers(c: Config) -> list[str]:
    """`[[["global", "local"], 12]]`: a pattern and its repetitions; a list of all layers takes precedence."""
    said = c.get("attention_types") or _USUAL_TYPES
    try:
        layers = c.words("attention_layers") or [kind for kinds, times in said for _ in range(times) for kind in kinds]
    except (TypeError, ValueError):
        raise c.wrong("attention_types", 'a list such as [[["global", "local"], 12]]') from None
    if len(layers) != c.size("num_layers") or not set(layers) <= set(_LAYERS):
        raise c.refused(
            "attention_types", f"it must give global or local for each of num_layers = {c.get('num_layers')} layers"
        )
    if "local" in layers:
        c.notes.append("transformers caches all positions in GPT-Neo's local attention: --kv-rule full counts that")
    return [_LAYERS[layer] for layer in layers]
