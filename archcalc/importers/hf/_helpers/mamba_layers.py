"""State-space layers: Mamba, and Mamba 2 with the config fields of Bamba and its successors."""

from __future__ import annotations

from math import ceil

from archcalc.importers.hf._helpers import Config, Fields, heads, inert
from archcalc.importers.hf._helpers.patterns import stack

INERT_IN_MAMBA = {inert.NO_SUCH_SIZE: "rms_norm", inert.USUAL_LAYERS: "layer_types", inert.NOT_HERE: "hidden_act"}


def mamba_model(c: Config, layer: Fields) -> Fields:
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


def dt_rank(c: Config, key: str) -> int:
    """The rank of the time step's projection; `auto` is a sixteenth of the width."""
    if c.get(key) == "auto":
        return ceil(c.size("hidden_size") / 16)
    return c.size(key)


def bamba_layer(c: Config) -> Fields:
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
