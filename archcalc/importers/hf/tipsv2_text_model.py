"""Text encoder of TIPS v2: sinusoidal positions."""

from archcalc.importers.hf._helpers import Config, Fields, clip_like, heads, inert

USUAL = "base"
INERT = {inert.STARTING: "scale_sqrt_depth"}


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return {
        **clip_like.tower(c),
        "vocab": c.size("vocab_size"),
        "position": {"kind": "sinusoidal"},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }
