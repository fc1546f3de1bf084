"""mT5: multilingual T5 v1.1."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert, t5_like
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("mt5",)
USUAL = "seq2seq"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads",
    inert.SCALING: "relative_attention_max_distance",
    inert.NOT_HERE: "scale_decoder_outputs tie_word_embeddings",
    inert.RUNNING: "output_past",
    inert.UNREAD: "n_positions",
}


def translate(c: Config, task: str) -> Fields:
    return t5_like.t5_like(c, task, t5_like.head_of_checkpoint(c, task, overwritten=True))
