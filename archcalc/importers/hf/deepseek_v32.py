"""DeepSeek V3.2: MoE with multi-head latent attention (MLA) that is sparse: an indexer selects the top-k tokens."""

from archcalc.importers.hf._helpers import Config, Fields, latent

INERT = latent.INDEXED_INERT


def translate(c: Config) -> Fields:
    return latent.indexed_decoder(c, [True] * c.size("num_hidden_layers"))
