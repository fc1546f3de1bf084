"""Falcon Mamba: Mamba with additional weightless RMS norms on B, C and dt."""

from archcalc.importers.hf._helpers import Config, Fields, mamba_layers

INERT = mamba_layers.INERT_IN_FIRST_MAMBA


def translate(c: Config) -> Fields:
    return mamba_layers.mamba_model(c, {**mamba_layers.first_mamba(c), "norms": "weightless"})
