"""XGLM: a pre-norm decoder with biases everywhere, and sinusoidal positions."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like


def translate(c: Config) -> Fields:
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return gpt2_like.fairseq_decoder(c, "ffn_dim", "activation_function", {"kind": "sinusoidal"})
