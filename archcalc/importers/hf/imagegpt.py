"""ImageGPT: GPT-2 over pixels, with RMS norms."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like, heads

USUAL = "pixels"


def translate(c: Config) -> Fields:
    if c.task == "pixels" and c.flag("tie_word_embeddings"):
        raise c.refused("tie_word_embeddings", "the head has one row less than the table")
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "image": lambda: {"kind": "classifier", "classes": heads.labels(c), "bias": False, "pool": "mean"},
        "pixels": lambda: {"kind": "lm", "vocab": c.size("vocab_size") - 1},
    }
    return gpt2_like.gpt2(c, norm="rms", head=heads.for_task(c, table))
