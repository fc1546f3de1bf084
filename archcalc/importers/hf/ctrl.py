"""CTRL: sinusoidal positions, a non-gated FFN, biases everywhere, also on the LM head."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NO_SUCH_SIZE: "n_ctx"}


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("n_embd"), c.size("n_head")
    return decoder(
        c,
        task,
        heads=number,
        kv_heads=number,
        head_dim=d_model // number,
        ffn={"width": c.size("dff"), "act": "relu"},
        norm="layer",
        bias=True,
        position={"kind": "sinusoidal", "length": c.size("n_positions")},
        head=heads.of_decoder(c, task, bias=task == "causal"),
    )
