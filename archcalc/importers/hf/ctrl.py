"""CTRL: sinusoidal positions, a non-gated FFN, biases everywhere, also on the LM head."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.gpt2_like import gpt
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NO_SUCH_SIZE: "n_ctx"}


def translate(c: Config, task: str) -> Fields:
    position = {"kind": "sinusoidal", "length": c.size("n_positions")}
    head = heads.of_decoder(c, task, bias=task == "causal")
    return gpt(c, task, ffn={"width": c.size("dff"), "act": "relu"}, position=position, head=head)
