"""Text model of GLM-4V: biases on q, k and v, norms before and after each sublayer."""

from archcalc.importers.hf._helpers.blocks import biased, decoder, even_heads
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import rope


def translate(c: Config, task: str) -> Fields:
    return decoder(
        c,
        task,
        head_dim=even_heads(c),
        attention={"bias": biased(qkv=True)},
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, even_heads(c)),
    )
