"""Mamba 2: each block is one multi-head state-space (SSD) layer; no attention."""

from archcalc.importers.hf._helpers import Config, Fields, mamba_layers

INERT = mamba_layers.INERT_IN_MAMBA


def translate(c: Config) -> Fields:
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
    return mamba_layers.mamba_model(c, layer)
