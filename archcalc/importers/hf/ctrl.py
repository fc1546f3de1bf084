"""CTRL: sinusoidal positions, a non-gated FFN, biases everywhere, also on the LM head."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like, heads, inert

INERT = {inert.NO_SUCH_SIZE: "n_ctx"}


def translate(c: Config) -> Fields:
    position = {"kind": "sinusoidal", "length": c.size("n_positions")}
    head = heads.of_decoder(c, bias=c.task == "causal")
    return gpt2_like.gpt(c, ffn={"width": c.size("dff"), "act": "relu"}, position=position, head=head)
