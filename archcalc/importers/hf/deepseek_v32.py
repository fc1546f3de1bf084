"""DeepSeek V3.2: MoE with multi-head latent attention (MLA) that is sparse: an indexer selects the top-k tokens."""

from archcalc.importers.hf._helpers.latent import INDEXED_INERT, indexed_decoder
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = INDEXED_INERT


def translate(c: Config, task: str) -> Fields:
    return indexed_decoder(c, task, [True] * c.size("num_hidden_layers"))
