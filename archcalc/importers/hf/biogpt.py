"""BioGPT and XGLM: pre-norm decoders with biases everywhere; positions are learned behind two rows, or sinusoidal."""

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, gpt2_like

TYPES = {
    "biogpt": {"width": "intermediate_size", "act": "hidden_act", "learned": True},
    "xglm": {"width": "ffn_dim", "act": "activation_function", "learned": False},
}


def translate(c: Config, *, width: str, act: str, learned: bool) -> Fields:
    """`width` and `act` are the keys of the FFN."""
    d_model, number, length = c.size("hidden_size"), c.size("num_attention_heads"), c.size("max_position_embeddings")
    position: Fields = {"kind": "sinusoidal"}  # of any length, though the file must have one
    if learned:
        position = {"kind": "learned", "length": length, "offset": 2}
    return decoder(
        c,
        kv_heads=number,
        head_dim=d_model // number,
        ffn={"width": c.size(width), "act": activation(c, act)},
        norm="layer",
        bias=True,
        position=position,
        **gpt2_like.crossed(c, d_model, c.size("num_hidden_layers")),
    )
