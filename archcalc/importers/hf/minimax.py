"""MiniMax-01: alternating lightning and softmax attention, MoE in every block, residuals taken after the norm."""

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, head_dim, where_used, window
from archcalc.importers.hf._helpers.layer_types import LINEAR, first_of_every, mixers
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.patterns import stack


def translate(c: Config) -> Fields:
    """The residual is taken after each input norm, so every norm acts on the previous residual sum or on the embedding.
    That is a norm after each sum, and the last is the class's final norm."""
    found = mixers(c, first_of_every(c, 2, other=LINEAR), "lightning")
    c.skip("sliding_window", "block_size")
    return decoder(
        c,
        ffn=None,
        **where_used(found, attention=lambda: window(c), lightning=lambda: _lightning(c)),
        moe=mixture(c, c.size("num_local_experts"), c.size("intermediate_size")),
        norm={"kind": "rms", "place": "post"},
        embedding={"norm": True},
        decoder=stack([f"{mixer} moe" for mixer in found]),
    )


def _lightning(c: Config) -> Fields:
    c.notes.append("lightning attention's decay buffers, which have the size of a chunk, are not counted")
    return {"head_dim": head_dim(c), "act": activation(c), "chunk": c.size("block_size")}
