"""M2M-100 and NLLB: pre-norm BART with sinusoidal positions."""

from __future__ import annotations

from archcalc.importers.hf._helpers import bart_like, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("m2m_100",)
USUAL = "seq2seq"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads extra_pos_embeddings",
    inert.SCALING: "scale_embedding",
    inert.ORDER: "normalize_before normalize_embedding add_final_layer_norm static_position_embeddings",
    inert.TRAINING: "classif_dropout",
    inert.TOKENS: "force_bos_token_to_be_generated",
    inert.UNREAD: "add_bias_logits",
}


def translate(c: Config, task: str) -> Fields:
    return bart_like.bart_like(c, task, position=bart_like.sinusoidal(c))
