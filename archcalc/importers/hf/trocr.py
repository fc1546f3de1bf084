"""Decoder of TrOCR: BART's decoder with cross-attention to the output of a vision encoder."""

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, inert, when

INERT = {inert.NOT_HERE: "is_decoder"}


def translate(c: Config) -> Fields:
    heads.only(c, "causal")
    length = c.size("max_position_embeddings")
    position = {"kind": "sinusoidal", "length": length}
    if c.flag("use_learned_position_embeddings"):
        position = {"kind": "learned", "length": length, "offset": 2}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "heads": c.size("decoder_attention_heads"),
        "cross": {"memory": c.size_or("cross_attention_hidden_size", c.size("d_model"))},
        "ffn": {"width": c.size("decoder_ffn_dim"), "act": activation(c, "activation_function")},
        "norm": {"place": "post"},
        "position": position,
        "embedding": when(c.flag("layernorm_embedding"), norm=True),
        "decoder": {"blocks": c.size("decoder_layers"), "pattern": ["attention cross ffn"]},
        "head": heads.tied_or_own(c),
    }
