"""Mamba 2: each block is one multi-head state-space (SSD) layer; no attention."""

from archcalc.importers.hf._helpers import Config, Fields, inert, mamba_layers

INERT = {inert.NO_SUCH_SIZE: "rms_norm", inert.USUAL_LAYERS: "layer_types", inert.NOT_HERE: "hidden_act"}


def translate(c: Config) -> Fields:
    c.skip("time_step_rank", "head_dim")
    return mamba_layers.mamba_model(c, _layer(c))


def _layer(c: Config) -> Fields:
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
