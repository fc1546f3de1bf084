"""Kimi Linear: Kimi's delta nets, now and then latent attention without positions; experts behind dense blocks."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, decoder, layer_types
from archcalc.importers.hf._helpers.moe import listed, mixture, used
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.deepseek_v3 import latent

TYPES = ("kimi_linear",)
USUAL = "causal"
INERT = (
    "num_key_value_heads head_dim qk_head_dim n_group topk_group routed_scaling_factor norm_topk_prob"
    " max_position_embeddings"
)

_MIXERS = {"full_attention": "attention", "linear_attention": "delta"}


def translate(c: Config, task: str) -> Fields:
    layers = layer_types(c, _usual(c))
    if not set(layers) <= set(_MIXERS):
        raise c.refused("layer_types")
    mixers, parts = [_MIXERS[layer] for layer in layers], listed(c, _dense_first(c))
    attention, delta = latent(c), _delta(c)
    return decoder(
        c,
        task,
        kv_heads=None,
        head_dim=None,
        attention=attention if "attention" in mixers else None,
        delta=delta if "delta" in mixers else None,
        **used(c, parts, lambda: experts(c)),
        position=None,
        head=own_head(c, task),
        decoder=stack([" ".join(pair) for pair in zip(mixers, parts, strict=True)]),
    )


def own_head(c: Config, task: str) -> Any:
    """The class never ties its head to the token table."""
    if c.flag("tie_word_embeddings"):
        c.notes.append("tie_word_embeddings is true, but transformers' Kimi Linear has a head of its own always")
    return "lm" if task == "causal" else heads.of_decoder(c, task)


def _linear(c: Config) -> dict[str, Any]:
    """What the checkpoint says of its delta nets, in a mapping of their own."""
    said = c.given("linear_attn_config") or {}
    if not isinstance(said, dict):
        raise c.wrong("linear_attn_config", "fields such as head_dim")
    return said


def _usual(c: Config) -> list[str]:
    """Blocks that the checkpoint names, counted from 1, or every fourth one."""
    blocks, said = range(c.size("num_hidden_layers")), _linear(c)
    if "full_attn_layers" not in said or "kda_layers" not in said:
        return ["full_attention" if block and block % 4 == 0 else "linear_attention" for block in blocks]
    full, linear = said["full_attn_layers"], said["kda_layers"]
    if sorted((*full, *linear)) != [block + 1 for block in blocks]:
        raise c.refused("linear_attn_config", "it must name every block once, as full_attn_layers or kda_layers")
    return ["full_attention" if block + 1 in full else "linear_attention" for block in blocks]


def _dense_first(c: Config) -> list[str]:
    dense = c.given("first_k_dense_replace")
    dense = 1 if dense is None else int(dense)
    return ["ffn" if block < dense else "moe" for block in range(c.size("num_hidden_layers"))]


def _delta(c: Config) -> Fields:
    said = _linear(c)
    sizes = {
        "heads": said.get("num_heads", c.size("linear_num_heads")),
        "head_dim": said.get("head_dim", c.size("linear_head_dim")),
        "conv": said.get("short_conv_kernel_size", c.size("linear_conv_kernel_dim")),
    }
    return {"kind": "kda", **sizes}


def experts(c: Config) -> Fields:
    width = c.size("moe_intermediate_size")
    shared = width * c.count("n_shared_experts")
    return mixture(c, c.size("num_local_experts"), width, shared=shared, correction=True)
