"""Text encoder of CLIP: a transformer with a causal mask."""

from archcalc.importers.hf._helpers import Config, Fields, clip_like, heads, inert

USUAL = "base"
INERT = {inert.NOT_HERE: "projection_dim"}


def translate(c: Config) -> Fields:
    table: heads.Table = {
        "base": heads.none,
        "projection": lambda: {
            "kind": "classifier",
            "classes": c.size("projection_dim"),
            "bias": False,
            "pool": "last",
        },
    }
    return {
        **clip_like.tower(c),
        "vocab": c.size("vocab_size"),
        "position": {"kind": "learned", "length": c.size("max_position_embeddings")},
        "decoder": c.size("num_hidden_layers"),
        "head": heads.for_task(c, table),
    }
