"""FSMT (fairseq translation models): a vocabulary for each language, sinusoidal positions stored as parameters."""

from archcalc.importers.hf._helpers import Config, Fields, activation, bart_like, heads, inert, when

USUAL = "seq2seq"
INERT = {inert.NOT_HERE: "decoder"}


def translate(c: Config) -> Fields:
    heads.only(c, "base", "seq2seq")
    tied, vocabularies = c.flag("tie_word_embeddings"), {c.size("src_vocab_size"), c.size("tgt_vocab_size")}
    if tied and len(vocabularies) > 1:
        raise c.refused(
            "tie_word_embeddings", "one shared embedding for two different vocabularies: such a model cannot run"
        )
    padding = c.get("pad_token_id")
    length = c.size("max_position_embeddings") + padding + 1  # rows in front, up to that of padding, are used by none
    return {
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "norm": bart_like.POST_NORM,
        "position": {"kind": "sinusoidal", "length": length, "stored": True},
        "embedding": when(tied, shared=True),
        "encoder": {"vocab": c.size("src_vocab_size"), **bart_like.stack_of(c, "encoder")},
        "decoder": {"vocab": c.size("tgt_vocab_size"), **bart_like.stack_of(c, "decoder")},
        "head": heads.tied_or_own(c),  # of the bare model too, which has one
    }
