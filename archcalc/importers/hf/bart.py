"""BART, PLBART and MVP: post-norm, a norm after the embedding, learned positions offset by two rows."""

from archcalc.importers.hf._helpers import bart_like, inert
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("bart", "plbart", "mvp")
USUAL = "seq2seq"
INERT = {**bart_like.INERT, inert.UNREAD: "add_bias_logits prompt_length prompt_mid_dim"}


def translate(c: Config, task: str) -> Fields:
    position = bart_like.learned(c, offset=bart_like.OFFSET)
    return bart_like.bart_like(c, task, norm=bart_like.POST_NORM, position=position, embedding_norm=True)
