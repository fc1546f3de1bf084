"""BitNet: Llama with an extra norm before each output projection; its ternary weight format is not imported here."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, head_dim


def translate(c: Config) -> Fields:
    if head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        raise c.refused(
            "head_dim", "the class normalises hidden_size outputs of all heads together, so such a model cannot run"
        )
    attention = {"bias": c.flag("attention_bias"), "out_norm": True}
    return decoder(c, attention=attention, ffn=ffn(c, inner_norm=True))
