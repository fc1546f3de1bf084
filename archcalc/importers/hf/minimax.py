"""MiniMax-01: alternating lightning and softmax attention, MoE in every block, residuals taken after the norm."""

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, head_dim, stack, where_used, window
from archcalc.importers.hf._helpers.layer_types import FULL, HYBRID, LINEAR, first_of_every, layer_types
from archcalc.importers.hf._helpers.moe import mixture

_MIXERS = {FULL: "attention", LINEAR: "lightning"}


def translate(c: Config) -> Fields:
    """The residual is taken after each input norm, so every norm acts on the previous residual sum or on the embedding.
    That is a norm after each sum, and the last is the class's final norm."""
    mixers = [_MIXERS[layer] for layer in layer_types(c, first_of_every(c, 2, other=LINEAR), known=HYBRID)]
    c.skip("sliding_window", "block_size")
    return decoder(
        c,
        ffn=None,
        **where_used(mixers, attention=lambda: window(c), lightning=lambda: _lightning(c)),
        moe=mixture(c, c.size("num_local_experts"), c.size("intermediate_size")),
        norm={"kind": "rms", "place": "post"},
        embedding={"norm": True},
        decoder=stack([f"{mixer} moe" for mixer in mixers]),
    )


def _lightning(c: Config) -> Fields:
    c.notes.append("lightning attention's decay buffers, which have the size of a chunk, are not counted")
    return {"head_dim": head_dim(c), "act": activation(c), "chunk": c.size("block_size")}
