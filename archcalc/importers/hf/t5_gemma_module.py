"""Encoder or decoder half of T5Gemma, which is not a model by itself."""

from archcalc.importers.hf._helpers import Config, Fields, inert

USUAL = "seq2seq"
INERT = {inert.NOT_HERE: "vocab_size is_decoder tie_word_embeddings"}


def translate(c: Config) -> Fields:
    raise c.refused(
        "is_decoder", "it is one half of a t5gemma config: give that config, with this one as encoder or decoder"
    )
