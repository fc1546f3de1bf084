"""StableLM: layer norms with bias, biases on q, k and v by choice, parallel branches by choice."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, biased, decoder
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("stablelm",)
USUAL = "causal"
INERT = "head_dim"


def translate(c: Config, task: str) -> Fields:
    heads, width = c.size("num_attention_heads"), c.size("hidden_size")
    attention: Fields = {"bias": biased(qkv=c.flag("use_qkv_bias"))}
    if c.flag("qk_layernorm"):
        attention["qk_norm"] = {"over": "heads", "bias": False}
    return decoder(
        c,
        task,
        head_dim=width // heads,
        attention=attention,
        norm="layer",
        position=rope(c, width // heads, fraction=0.25),
        parallel="shared" if c.flag("use_parallel_residual") else None,
    )
