"""Mamba, Falcon Mamba and Mamba 2: blocks of one part, no attention."""

from __future__ import annotations

from math import ceil

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("mamba", "falcon_mamba", "mamba2")
USUAL = "causal"
INERT = (
    "hidden_act residual_in_fp32 time_step_scale time_step_min time_step_max time_step_limit time_step_floor"
    " rescale_prenorm_residual use_mambapy use_falcon_mambapy use_associative_scan rms_norm layer_types"
)


def translate(c: Config, task: str) -> Fields:
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("hidden_size"),
        "mamba": _second(c) if c.type == "mamba2" else _first(c),
        "norm": "rms",
        "bias": False,
        "decoder": stack(["mamba"] * c.size("num_hidden_layers")),
        "head": heads.of_decoder(c, task),
    }


def _first(c: Config) -> Fields:
    """A file's intermediate_size wins over expand × hidden_size."""
    width, rank = c.size("hidden_size"), c.get("time_step_rank")
    return {
        "inner": c.size_or("intermediate_size", int(c.get("expand") * width)),
        "state": c.size("state_size"),
        "conv": c.size("conv_kernel"),
        "dt_rank": ceil(width / 16) if rank == "auto" else c.size("time_step_rank"),
        "bias": c.flag("use_bias"),
        "conv_bias": c.flag("use_conv_bias"),
        **({"norms": "weightless"} if c.type == "falcon_mamba" else {}),
    }


def _second(c: Config) -> Fields:
    c.skip("time_step_rank", "head_dim")
    return {
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
