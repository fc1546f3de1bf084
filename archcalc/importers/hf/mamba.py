"""Mamba: blocks of one selective state-space layer each, no attention."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.mamba_layers import first_mamba, mamba_model
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("mamba",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "rms_norm",
    inert.SCALING: "time_step_scale",
    inert.STARTING: "time_step_min time_step_max time_step_floor rescale_prenorm_residual",
    inert.USUAL_LAYERS: "layer_types",
    inert.NOT_HERE: "hidden_act",
    inert.RUNNING: "residual_in_fp32 use_mambapy use_falcon_mambapy use_associative_scan",
}


def translate(c: Config, task: str) -> Fields:
    return mamba_model(c, task, first_mamba(c))
