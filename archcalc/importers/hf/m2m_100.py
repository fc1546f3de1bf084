"""M2M-100 and NLLB: pre-norm BART with sinusoidal positions."""

from archcalc.importers.hf._helpers import Config, Fields, bart_like, inert

USUAL = "seq2seq"
INERT = {
    inert.NO_SUCH_SIZE: "extra_pos_embeddings",
    inert.ORDER: "normalize_before normalize_embedding add_final_layer_norm static_position_embeddings",
    inert.UNREAD: "add_bias_logits",
}


def translate(c: Config) -> Fields:
    return bart_like.bart(c, position=bart_like.positions(c, "sinusoidal"))
