"""GLM and GLM-4: biases on q, k and v only; GLM-4 also has norms behind each branch, as do those that see."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, biased, decoder, even_heads, head_dim
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("glm", "glm4", "glm4v_text", "glm_ocr_text", "glm_image_text")
USUAL = "causal"
INERT = "vision_vocab_size"


def translate(c: Config, task: str) -> Fields:
    each = even_heads(c) if c.type == "glm4v_text" else head_dim(c)
    return decoder(
        c,
        task,
        head_dim=each,
        attention={"bias": biased(qkv=c.type == "glm4v_text" or c.flag("attention_bias"))},
        norm="rms" if c.type == "glm" else {"kind": "rms", "place": "sandwich"},
        position=rope(c, each, fraction=0.5 if c.type in ("glm", "glm4") else 1.0),
    )
