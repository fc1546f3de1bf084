"""LongT5: T5 whose encoder uses local or transient-global attention."""

from archcalc.importers.hf._helpers import Config, Fields, inert, t5_like

USUAL = "seq2seq"
INERT = {inert.NOT_HERE: "scale_decoder_outputs tie_word_embeddings", inert.UNREAD: "n_positions"}


def translate(c: Config) -> Fields:
    """Its checkpoints contain one tied token embedding, whatever the config says."""
    if c.text("encoder_attention_type") != "local":
        raise c.refused("encoder_attention_type", "transient-global tokens are not counted")
    c.notes.append("the encoder's blocked local attention is counted as full attention")
    if c.task == "seq2seq" and c.given("tie_word_embeddings") is False:
        c.notes.append(
            "tie_word_embeddings is false, but LongT5 checkpoints contain one tied embedding: that is counted"
        )
    return t5_like.t5(c, "tied")
