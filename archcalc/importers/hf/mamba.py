"""Mamba: each block is one selective state-space layer; no attention."""

from archcalc.importers.hf._helpers.mamba_layers import INERT_IN_FIRST_MAMBA, first_mamba, mamba_model
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = INERT_IN_FIRST_MAMBA


def translate(c: Config, task: str) -> Fields:
    return mamba_model(c, task, first_mamba(c))
