"""BigBird-Pegasus: pre-norm BART with optional block-sparse attention in its encoder."""

from archcalc.importers.hf._helpers import Config, Fields, bart_like, inert

USUAL = "seq2seq"
INERT = {**bart_like.INERT, inert.APPROXIMATE: "block_size"}


def translate(c: Config) -> Fields:
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, which the class uses for short sequences")
    attention, position = {"bias": c.flag("use_bias")}, bart_like.positions(c, "learned")
    head = bart_like.head(c, causal=lambda: "lm")  # a decoder alone is never tied
    return bart_like.bart(c, attention=attention, position=position, head=head)
