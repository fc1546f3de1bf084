"""BioGPT: a pre-norm decoder with biases everywhere and learned positions offset by two rows."""

from archcalc.importers.hf._helpers.gpt2_like import fairseq_decoder
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    position = {"kind": "learned", "length": c.size("max_position_embeddings"), "offset": 2}
    return fairseq_decoder(c, task, "intermediate_size", "hidden_act", position)
