"""State-space models: Mamba and Mamba 2, alone or with a few attention layers."""

from functools import partial
from math import ceil

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, ffn, head_dim, heads, inert, rope, where_used
from archcalc.importers.hf._helpers.layer_types import LINEAR, mixers, paired, stack
from archcalc.importers.hf._helpers.moe import mixture, sparse_where

_IN_MAMBA = {inert.NO_SUCH_SIZE: "rms_norm", inert.USUAL_LAYERS: "layer_types", inert.NOT_HERE: "hidden_act"}
INERT = {
    "mamba": _IN_MAMBA,
    "mamba2": _IN_MAMBA,
    "bamba": {
        inert.NO_SUCH_SIZE: "mamba_d_head attn_rotary_emb",
        inert.USUAL_LAYERS: "layers_block_type layer_types",
        inert.NOT_HERE: "partial_rotary_factor",
    },
    "falcon_h1": {
        inert.NO_SUCH_SIZE: "mamba_d_head mamba_expand",
        inert.ORDER: "mamba_norm_before_gate",
        inert.USUAL_LAYERS: "layers_block_type",
    },
    "granitemoehybrid": {inert.NO_SUCH_SIZE: "mamba_d_head"},
    "jamba": {inert.USUAL_LAYERS: "layers_block_type layer_types"},
}
_SIDES = {(False, False): False, (True, False): ["in"], (False, True): ["out"], (True, True): True}


def _mamba_model(c: Config, layer: Fields) -> Fields:
    """A model whose blocks are one Mamba layer each, without attention."""
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("hidden_size"),
        "mamba": layer,
        "norm": "rms",
        "bias": False,
        "decoder": stack(["mamba"] * c.size("num_hidden_layers")),
        "head": heads.of_decoder(c),
    }


def _dt_rank(c: Config, key: str) -> int:
    """The rank of the time step's projection; `auto` is a sixteenth of the width."""
    if c.get(key) == "auto":
        return ceil(c.size("hidden_size") / 16)
    return c.size(key)


def _bamba_layer(c: Config) -> Fields:
    return {
        "kind": "mamba2",
        "inner": c.size("mamba_expand") * c.size("hidden_size"),
        "heads": c.size("mamba_n_heads"),
        "state": c.size("mamba_d_state"),
        "groups": c.size("mamba_n_groups"),
        "conv": c.size("mamba_d_conv"),
        "bias": c.flag("mamba_proj_bias"),
        "conv_bias": c.flag("mamba_conv_bias"),
        "chunk": c.size("mamba_chunk_size"),
    }


def _sizes_of_mamba(c: Config) -> list[str]:
    """What a model without such layers need not say."""
    return [key for key in c.said if key.startswith("mamba_")]


def mamba(c: Config, **norms: Value) -> Fields:
    """Mamba and Falcon Mamba: each block is one selective state-space layer; no attention.

    intermediate_size in the file takes precedence over expand × hidden_size."""
    layer = {
        "inner": c.size_or("intermediate_size", int(c.get("expand") * c.size("hidden_size"))),
        "state": c.size("state_size"),
        "conv": c.size("conv_kernel"),
        "dt_rank": _dt_rank(c, "time_step_rank"),
        "bias": c.flag("use_bias"),
        "conv_bias": c.flag("use_conv_bias"),
        **norms,
    }
    return _mamba_model(c, layer)


def mamba2(c: Config) -> Fields:
    """Mamba 2: each block is one multi-head state-space (SSD) layer; no attention."""
    c.skip("time_step_rank", "head_dim")
    layer = {
        "kind": "mamba2",
        "inner": int(c.get("expand") * c.size("hidden_size")),
        "heads": c.size("num_heads"),
        "state": c.size("state_size"),
        "groups": c.size("n_groups"),
        "conv": c.size("conv_kernel"),
        "bias": c.flag("use_bias"),
        "conv_bias": c.flag("use_conv_bias"),
        "chunk": c.size("chunk_size"),
    }
    return _mamba_model(c, layer)


def bamba(c: Config) -> Fields:
    """Bamba: Mamba 2 layers with a few attention layers, and an FFN in every block."""
    attends = c.get("attn_layer_indices") or []
    words = {True: "attention", False: "mamba"}
    mixers = [words[block in attends] for block in range(c.size("num_hidden_layers"))]
    rotated = where_used(mixers, attention=lambda: rope(c, head_dim(c)))
    fields = decoder(
        c,
        **where_used(mixers, attention=lambda: {"bias": c.flag("attention_bias")}, mamba=lambda: _bamba_layer(c)),
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        position=rotated["attention"],
        decoder=stack([f"{mixer} ffn" for mixer in mixers]),
    )
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta", *_sizes_of_mamba(c))
    return fields


def falcon_h1(c: Config) -> Fields:
    """Falcon-H1: attention and Mamba 2 in parallel in every block, then an FFN.

    The gated norm of Mamba is optional; it normalises each group separately."""
    fields = _bamba_layer(c)
    bias = _SIDES[c.flag("mamba_proj_bias"), c.flag("projectors_bias")]
    normed: Fields = c.choose("mamba_rms_norm", {"norm_groups": fields["groups"]}, {"gate_norm": False})
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        mamba={**fields, "inner": c.size_or("mamba_d_ssm", fields["inner"]), **normed, "bias": bias},
        decoder={"blocks": c.size("num_hidden_layers"), "pattern": ["attention+mamba ffn"]},
    )


def granitemoehybrid(c: Config) -> Fields:
    """Granite 4: Mamba 2 layers with a few attention layers; a shared FFN in every block, plus experts in
    MoE models."""
    found = mixers(c, [LINEAR] * c.size("num_hidden_layers"), "mamba")
    number = c.count("num_local_experts")
    shared = "shared_intermediate_size"
    part, position = "ffn", None
    if number:
        part = "moe"
    if "attention" in found and c.given("position_embedding_type") == "rope":
        position = rope(c, head_dim(c))
    fields = decoder(
        c,
        **where_used(found, attention=lambda: {"bias": c.flag("attention_bias")}, mamba=lambda: _bamba_layer(c)),
        **where_used(
            [part],
            ffn=lambda: ffn(c, shared),
            moe=lambda: mixture(c, number, c.size("intermediate_size"), shared=c.count(shared)),
        ),
        position=position,
        decoder=paired(found, [part] * len(found)),
    )
    c.skip("intermediate_size", "num_experts_per_tok", "hidden_act", *_sizes_of_mamba(c))
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta")
    return fields


def jamba(c: Config) -> Fields:
    """Jamba: Mamba layers with a few attention layers, MoE in some blocks, no position embeddings."""
    experts = c.size("num_experts")
    words = {True: "attention", False: "mamba"}
    mixers = [words[_falls(c, "attn", block)] for block in range(c.size("num_hidden_layers"))]
    parts = sparse_where(c, lambda block: _falls(c, "expert", block) and experts > 1)
    fields = decoder(
        c,
        **where_used(parts, ffn=lambda: ffn(c), moe=lambda: mixture(c, experts, c.size("intermediate_size"))),
        **where_used(mixers, mamba=lambda: _mamba(c)),
        position=None,
        decoder=paired(mixers, parts),
    )
    c.skip("max_position_embeddings", "num_experts_per_tok", "hidden_act", *_sizes_of_mamba(c))
    return fields


def _falls(c: Config, what: str, block: int) -> bool:
    return block % c.size(f"{what}_layer_period") == c.count(f"{what}_layer_offset")


def _mamba(c: Config) -> Fields:
    width = c.size("hidden_size")
    return {
        "inner": c.size("mamba_expand") * width,
        "state": c.size("mamba_d_state"),
        "conv": c.size("mamba_d_conv"),
        "dt_rank": _dt_rank(c, "mamba_dt_rank"),
        "bias": c.flag("mamba_proj_bias"),
        "conv_bias": c.flag("mamba_conv_bias"),
        "norms": True,
    }


TYPES = {"falcon_mamba": partial(mamba, norms="weightless")}
