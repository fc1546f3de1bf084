"""The first GPT (norms behind the blocks) and CTRL (sinusoids, a head with a bias): plain FFNs, biases everywhere."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("openai-gpt", "ctrl")
USUAL = "causal"
INERT = (
    "summary_type summary_use_proj summary_activation summary_proj_to_labels head_dim num_key_value_heads n_ctx"
    " predict_special_tokens"
)

_ACTIVATIONS = {"gelu": "gelu_new", "relu": "relu", "silu": "silu", "swish": "silu"}  # the words of the first GPT


def translate(c: Config, task: str) -> Fields:
    d_model, number, ctrl = c.size("n_embd"), c.size("n_head"), c.type == "ctrl"
    return decoder(
        c,
        task,
        heads=number,
        kv_heads=number,
        head_dim=d_model // number,
        ffn={"width": c.size("dff"), "act": "relu"} if ctrl else {"width": 4 * d_model, "act": _activation(c)},
        norm="layer" if ctrl else {"place": "post"},
        bias=True,
        position={"kind": "sinusoidal" if ctrl else "learned", "length": c.size("n_positions")},
        head=heads.of_decoder(c, task, bias=ctrl and task == "causal"),
    )


def _activation(c: Config) -> str:
    said = c.text("afn")
    if said not in _ACTIVATIONS:
        raise c.wrong("afn", f"one of {', '.join(_ACTIVATIONS)}")
    return activation(c, "afn", _ACTIVATIONS[said])
