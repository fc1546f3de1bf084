"""Text encoder of TIPS v2: sinusoidal positions."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.clip_like import tower
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "base"
INERT = {inert.STARTING: "scale_sqrt_depth"}


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return {
        **tower(c),
        "vocab": c.size("vocab_size"),
        "position": {"kind": "sinusoidal"},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }
