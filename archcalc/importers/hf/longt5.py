"""LongT5: T5 whose encoder uses local or transient-global attention."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert, t5_like
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("longt5",)
USUAL = "seq2seq"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads",
    inert.SCALING: "relative_attention_max_distance",
    inert.NOT_HERE: "scale_decoder_outputs tie_word_embeddings",
    inert.RUNNING: "output_past",
    inert.APPROXIMATE: "local_radius global_block_size",
    inert.UNREAD: "n_positions",
}


def translate(c: Config, task: str) -> Fields:
    """Its checkpoints hold the token table alone, whatever the config says."""
    if c.text("encoder_attention_type") != "local":
        raise c.refused("encoder_attention_type", "global tokens that are made of the others are not counted")
    c.notes.append("the encoder's local attention, computed block by block, is counted as full attention")
    if task == "seq2seq" and c.given("tie_word_embeddings") is False:
        c.notes.append("tie_word_embeddings is false, but LongT5's checkpoints hold one table: that is counted")
    return t5_like.t5_like(c, task, "tied")
