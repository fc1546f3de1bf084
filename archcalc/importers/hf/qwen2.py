"""Qwen 2 and 3: optional sliding windows in later blocks; Qwen 2 has biases on q, k and v, Qwen 3 a QK norm."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, decoder, even_heads, inert, rope
from archcalc.importers.hf._helpers.layer_types import layer_types, sliding, sliding_from

INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config, *, qk_norm: bool = False, even: bool = False) -> Fields:
    """`even`: the head size is hidden_size / heads, whatever the file says."""
    changes: Fields = {"attention": {"bias": ["q", "k", "v"]}}
    if qk_norm:
        changes = {"attention": {"bias": c.flag("attention_bias"), "qk_norm": "head"}}
    if even:
        changes |= {"head_dim": even_heads(c), "position": rope(c, even_heads(c))}
    window = c.choose("use_sliding_window", c.given("sliding_window"), None)
    usual = sliding_from(c, c.get("max_window_layers"), slides=window is not None)
    return decoder(c, **changes, **sliding(c, layer_types(c, usual), window))


TYPES = {
    "qwen2": translate,
    "mimo": translate,
    "qwen2_5_omni_text": translate,
    "qwen2_vl_text": partial(translate, even=True),
    "qwen2_5_vl_text": partial(translate, even=True),
    "qwen3": partial(translate, qk_norm=True),
}
