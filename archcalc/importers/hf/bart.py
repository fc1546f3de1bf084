"""BART, PLBART and MVP: post-norm, a norm after the embedding, learned positions offset by two rows."""

from archcalc.importers.hf._helpers import Config, Fields, bart_like, inert

TYPES = ("bart", "plbart", "mvp")
USUAL = "seq2seq"
INERT = {**bart_like.INERT, inert.UNREAD: "add_bias_logits prompt_length prompt_mid_dim"}


def translate(c: Config) -> Fields:
    position = bart_like.positions(c, "learned", offset=bart_like.OFFSET)
    return bart_like.bart(c, norm=bart_like.POST_NORM, position=position, embedding_norm=True)
