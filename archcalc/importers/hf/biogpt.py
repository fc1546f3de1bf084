"""BioGPT: a pre-norm decoder with biases everywhere and learned positions offset by two rows."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like


def translate(c: Config) -> Fields:
    position = {"kind": "learned", "length": c.size("max_position_embeddings"), "offset": 2}
    return gpt2_like.fairseq_decoder(c, "intermediate_size", "hidden_act", position)
