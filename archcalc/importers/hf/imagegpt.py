"""ImageGPT: GPT-2 over pixels, with RMS norms."""

from archcalc.importers.hf._helpers import Config, Fields, Value, gpt2_like, heads

USUAL = "pixels"


def translate(c: Config) -> Fields:
    return gpt2_like.gpt2(c, norm="rms", head=_head(c))


def _head(c: Config) -> Value:
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "image": lambda: {"kind": "classifier", "classes": heads.labels(c), "bias": False, "pool": "mean"},
        "pixels": lambda: _pixels(c),
    }
    return heads.for_task(c, table)


def _pixels(c: Config) -> Fields:
    if c.flag("tie_word_embeddings"):
        raise c.refused("tie_word_embeddings", "the head has one row less than the table")
    return {"kind": "lm", "vocab": c.size("vocab_size") - 1}
