"""M2M-100 and NLLB: pre-norm BART with sinusoidal positions."""

from archcalc.importers.hf._helpers import bart_like, inert
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "seq2seq"
INERT = {
    inert.NO_SUCH_SIZE: "extra_pos_embeddings",
    inert.ORDER: "normalize_before normalize_embedding add_final_layer_norm static_position_embeddings",
    inert.UNREAD: "add_bias_logits",
}


def translate(c: Config, task: str) -> Fields:
    return bart_like.bart_like(c, task, position=bart_like.sinusoidal(c))
