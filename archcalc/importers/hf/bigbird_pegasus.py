"""BigBird-Pegasus: pre-norm BART with optional block-sparse attention in its encoder."""

from archcalc.importers.hf._helpers import bart_like, inert
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "seq2seq"
INERT = {**bart_like.INERT, inert.APPROXIMATE: "block_size"}


def translate(c: Config, task: str) -> Fields:
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, which the class uses for short sequences")
    attention, position = {"bias": c.flag("use_bias")}, bart_like.learned(c)
    head = bart_like.head(c, task, causal=lambda: "lm")  # a decoder alone is never tied
    return bart_like.bart_like(c, task, attention=attention, position=position, head=head)
