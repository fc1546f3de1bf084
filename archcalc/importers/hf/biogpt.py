"""BioGPT: a pre-norm decoder with biases everywhere and learned positions offset by two rows."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.gpt2_like import fairseq_decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("biogpt",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
    inert.SCALING: "scale_embedding",
}


def translate(c: Config, task: str) -> Fields:
    position = {"kind": "learned", "length": c.size("max_position_embeddings"), "offset": 2}
    return fairseq_decoder(c, task, "intermediate_size", "hidden_act", position)
