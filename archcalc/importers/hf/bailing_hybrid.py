"""Ling 3.0: delta nets like Kimi's, now and then latent attention with a gate for each head; experts."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, layer_types
from archcalc.importers.hf._helpers.moe import first_dense, listed, used
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope
from archcalc.importers.hf.kimi_linear import experts, own_head

TYPES = ("bailing_hybrid",)
USUAL = "causal"
INERT = (
    "num_key_value_heads qk_head_dim n_group topk_group routed_scaling_factor norm_topk_prob kda_safe_gate"
    " kda_lower_bound num_mtp_layers mtp_loss_scaling_factor"
)

_MIXERS = {"full_attention": "attention", "linear_attention": "delta"}


def translate(c: Config, task: str) -> Fields:
    blocks, every = range(1, c.size("num_hidden_layers") + 1), c.size("layer_group_size")
    layers = layer_types(c, ["linear_attention" if block % every else "full_attention" for block in blocks])
    if not set(layers) <= set(_MIXERS):
        raise c.refused("layer_types")
    mixers, parts = [_MIXERS[layer] for layer in layers], listed(c, first_dense(c))
    attention, delta, position = _latent(c), _delta(c), rope(c, c.size("qk_rope_head_dim"))
    there = "attention" in mixers
    return decoder(
        c,
        task,
        kv_heads=None,
        head_dim=None,
        attention=attention if there else None,
        delta=delta if "delta" in mixers else None,
        **used(c, parts, lambda: experts(c)),
        position=position if there else None,
        decoder=stack([" ".join(pair) for pair in zip(mixers, parts, strict=True)]),
        head=own_head(c, task),
    )


def _latent(c: Config) -> Fields:
    sizes = {"kv_rank": "kv_lora_rank", "nope_dim": "qk_nope_head_dim", "rope_dim": "qk_rope_head_dim"}
    widths = {field: c.size(key) for field, key in {**sizes, "v_dim": "v_head_dim"}.items()}
    return {"kind": "mla", **widths, "gate": "head", "bias": c.flag("attention_bias")}


def _delta(c: Config) -> Fields:
    """Sizes that the class derives from attention's, unless a file that it wrote has them."""
    return {
        "kind": "kda",
        "heads": c.size_or("linear_num_heads", c.size("num_attention_heads")),
        "head_dim": c.size_or("linear_head_dim", c.size("head_dim")),
        "conv": c.size_or("linear_conv_kernel_dim", c.size("short_conv_kernel_size")),
        "squeeze": False,
    }
