"""Text encoder of SigLIP: bidirectional attention; the last token is pooled and projected."""

from archcalc.importers.hf._helpers import Config, Fields, clip_like, heads, inert

USUAL = "base"
INERT = {inert.NOT_HERE: "projection_size"}


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    width = c.size_or("projection_size", c.size("hidden_size"))
    return {
        **clip_like.tower(c),
        "vocab": c.size("vocab_size"),
        "position": {"kind": "learned", "length": c.size("max_position_embeddings")},
        "encoder": c.size("num_hidden_layers"),
        "head": heads.classifier(width, pool="last"),
    }
