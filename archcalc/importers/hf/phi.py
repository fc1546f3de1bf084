"""Phi 1 and 2: parallel branches behind one layer norm, biases everywhere, in the head too."""

from __future__ import annotations

from archcalc.importers.hf import heads
from archcalc.importers.hf.blocks import Fields, decoder, ffn, head_dim
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import rope

TYPES = ("phi",)
USUAL = "causal"
INERT = ""


def translate(c: Config, task: str) -> Fields:
    if c.flag("qk_layernorm") and head_dim(c) != c.size("hidden_size") // c.size("num_attention_heads"):
        raise c.refused("head_dim", "the class sizes its norms by hidden_size, so that such a model cannot run")
    return decoder(
        c,
        task,
        attention={"qk_norm": "head"} if c.flag("qk_layernorm") else {},
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        position=rope(c, head_dim(c), fraction=0.5),
        parallel="shared",
        head=heads.of_decoder(c, task, bias=True),
    )
