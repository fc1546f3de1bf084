"""mT5: multilingual T5 v1.1."""

from archcalc.importers.hf._helpers import Config, Fields, inert, t5_like

USUAL = "seq2seq"
INERT = {inert.NOT_HERE: "scale_decoder_outputs tie_word_embeddings", inert.UNREAD: "n_positions"}


def translate(c: Config) -> Fields:
    return t5_like.t5(c, t5_like.head_of_checkpoint(c, overwritten=True))
