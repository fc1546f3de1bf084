"""Text encoder of CLIP: a transformer with a causal mask."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.clip_like import tower
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "base"
INERT = {inert.NOT_HERE: "projection_dim"}


def translate(c: Config, task: str) -> Fields:
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
        **tower(c),
        "vocab": c.size("vocab_size"),
        "position": {"kind": "learned", "length": c.size("max_position_embeddings")},
        "decoder": c.size("num_hidden_layers"),
        "head": heads.for_task(c, task, table),
    }
