"""OLMo Hybrid: pre-norm Gated DeltaNet blocks; every fourth block is post-norm attention as in OLMo 2."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, where_used
from archcalc.importers.hf._helpers.layer_types import FULL, HYBRID, LINEAR, every, layer_types, stack

_BLOCKS = {LINEAR: "delta ffn", FULL: "attention behind"}


def translate(c: Config) -> Fields:
    usual = every(c, 4, other=LINEAR)
    if FULL not in usual:
        usual[-1] = FULL
    layers = layer_types(c, usual, known=HYBRID)
    lines = [_BLOCKS[layer] for layer in layers]
    made = where_used(" ".join(lines).split(), attention=lambda: _attention(c), delta=lambda: _delta(c))
    return decoder(c, **(made["attention"] or {}), delta=made["delta"], decoder=stack(lines))


def _attention(c: Config) -> Fields:
    """Attention blocks have their norms after the sublayers."""
    behind = {"kind": "rms", "place": "out"}
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "all", "norm": behind}
    return {"attention": attention, "variants": {"behind": {"like": "ffn", "norm": behind}}}


def _delta(c: Config) -> Fields:
    heads = c.size_or("linear_num_key_heads", c.size("num_attention_heads"))
    width = c.size_or("linear_key_head_dim", int(0.75 * c.size("hidden_size") / heads))
    return {
        "heads": heads,
        "v_heads": c.size_or("linear_num_value_heads", c.size("num_attention_heads")),
        "head_dim": width,
        "v_dim": c.size_or("linear_value_head_dim", 2 * width),
        "conv": c.size("linear_conv_kernel_dim"),
    }
