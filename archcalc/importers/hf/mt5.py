"""mT5: multilingual T5 v1.1."""

from archcalc.importers.hf._helpers import inert, t5_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "seq2seq"
INERT = {inert.NOT_HERE: "scale_decoder_outputs tie_word_embeddings", inert.UNREAD: "n_positions"}


def translate(c: Config, task: str) -> Fields:
    return t5_like.t5_like(c, task, t5_like.head_of_checkpoint(c, task, overwritten=True))
