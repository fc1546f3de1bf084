"""GLM and GLM-4: biases on q, k and v only; GLM-4 also has norms behind each branch."""

from __future__ import annotations

from archcalc.importers.hf.blocks import Fields, biased, decoder, head_dim
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import rope

TYPES = ("glm", "glm4")
USUAL = "causal"
INERT = ""


def translate(c: Config, task: str) -> Fields:
    return decoder(
        c,
        task,
        attention={"bias": biased(qkv=c.flag("attention_bias"))},
        norm={"kind": "rms", "place": "sandwich"} if c.type == "glm4" else "rms",
        position=rope(c, head_dim(c), fraction=0.5),
    )
