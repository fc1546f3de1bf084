"""XGLM: a pre-norm decoder with biases everywhere, and sinusoidal positions."""

from archcalc.importers.hf._helpers.gpt2_like import fairseq_decoder
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return fairseq_decoder(c, task, "ffn_dim", "activation_function", {"kind": "sinusoidal"})
