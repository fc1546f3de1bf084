"""GPT-NeoX Japanese: sequential attention and FFN; the only bias is on the attention output of the last block."""

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, even_heads, inert, rope
from archcalc.importers.hf._helpers.patterns import stack

INERT = {inert.NOT_HERE: "is_decoder"}


def translate(c: Config) -> Fields:
    number, each, blocks = c.size("num_attention_heads"), even_heads(c), c.size("num_hidden_layers")
    width = int(c.size("hidden_size") * c.size("intermediate_multiple_size"))
    return decoder(
        c,
        kv_heads=number,
        head_dim=each,
        attention={"bias": False},
        ffn={"width": width, "act": activation(c), "gated": False},
        norm="layer",
        position=rope(c, each),
        variants={"last": {"like": "attention", "bias": ["o"]}},
        decoder=stack(["attention ffn"] * (blocks - 1) + ["last ffn"]),
    )
