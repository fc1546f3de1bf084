"""XGLM: a pre-norm decoder with biases everywhere, and sinusoidal positions."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.gpt2_like import fairseq_decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("xglm",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
    inert.SCALING: "scale_embedding",
}


def translate(c: Config, task: str) -> Fields:
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return fairseq_decoder(c, task, "ffn_dim", "activation_function", {"kind": "sinusoidal"})
