"""Text encoder of SigLIP: bidirectional attention; the last token is pooled and projected."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.clip_like import tower
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "base"
INERT = {inert.NOT_HERE: "projection_size"}


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    width = c.size_or("projection_size", c.size("hidden_size"))
    return {
        **tower(c),
        "vocab": c.size("vocab_size"),
        "position": {"kind": "learned", "length": c.size("max_position_embeddings")},
        "encoder": c.size("num_hidden_layers"),
        "head": heads.classifier(width, pool="last"),
    }
