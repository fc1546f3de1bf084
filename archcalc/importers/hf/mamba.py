"""Mamba and Falcon Mamba: each block is one selective state-space layer; no attention."""

from archcalc.importers.hf._helpers import Config, Fields, Value, mamba_layers

TYPES: dict[str, Fields] = {"falcon_mamba": {"norms": "weightless"}, "mamba": {}}  # RMS norms on B, C and dt
INERT = mamba_layers.INERT_IN_MAMBA


def translate(c: Config, **norms: Value) -> Fields:
    """intermediate_size in the file takes precedence over expand × hidden_size."""
    layer = {
        "inner": c.size_or("intermediate_size", int(c.get("expand") * c.size("hidden_size"))),
        "state": c.size("state_size"),
        "conv": c.size("conv_kernel"),
        "dt_rank": mamba_layers.dt_rank(c, "time_step_rank"),
        "bias": c.flag("use_bias"),
        "conv_bias": c.flag("use_conv_bias"),
        **norms,
    }
    return mamba_layers.mamba_model(c, layer)
