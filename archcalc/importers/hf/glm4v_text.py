"""Text model of GLM-4V: biases on q, k and v, norms before and after each sublayer."""

from archcalc.importers.hf._helpers import Config, Fields, biased, decoder, even_heads, rope


def translate(c: Config) -> Fields:
    return decoder(
        c,
        head_dim=even_heads(c),
        attention={"bias": biased(qkv=True)},
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, even_heads(c)),
    )
