"""BioGPT (positions with two rows in front) and XGLM (sinusoids): pre-norm decoders with biases everywhere."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("biogpt", "xglm")
USUAL = "causal"
INERT = "scale_embedding head_dim num_key_value_heads"


def translate(c: Config, task: str) -> Fields:
    d_model, number, other = c.size("hidden_size"), c.size("num_attention_heads"), c.type == "xglm"
    length = c.size("max_position_embeddings")
    crossed = c.flag("add_cross_attention")
    width = c.size("ffn_dim" if other else "intermediate_size")
    line = "attention cross ffn" if crossed else "attention ffn"
    return decoder(
        c,
        task,
        kv_heads=number,
        head_dim=d_model // number,
        cross={"memory": d_model} if crossed else None,
        ffn={"width": width, "act": activation(c, "activation_function" if other else "hidden_act")},
        norm="layer",
        bias=True,
        position={"kind": "sinusoidal"} if other else {"kind": "learned", "length": length, "offset": 2},
        decoder=stack([line] * c.size("num_hidden_layers")),
    )
