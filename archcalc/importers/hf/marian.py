"""Marian translation models: BART with sinusoidal positions stored as parameters, optional separate vocabularies."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bart_like, when

USUAL = "seq2seq"
INERT = bart_like.INERT


def translate(c: Config) -> Fields:
    alone, vocab, decoder_vocab = c.task == "causal", c.size("vocab_size"), _decoder_vocab(c)
    tables = when(not _shares(c), embedding={})
    fields = bart_like.bart(
        c, norm=bart_like.POST_NORM, position=bart_like.positions(c, "sinusoidal", stored=True), **tables
    )
    if decoder_vocab == vocab:
        return fields
    if alone:
        return {**fields, "vocab": decoder_vocab, "head": _head_of(vocab, fields["head"])}
    fields["decoder"] = {**fields["decoder"], "vocab": decoder_vocab}
    return {**fields, **when(_shares(c), head=_head_of(vocab, fields["head"]))}


def _shares(c: Config) -> bool:
    """Encoder and decoder may share one embedding."""
    return c.flag("share_encoder_decoder_embeddings")


def _decoder_vocab(c: Config) -> int:
    """The decoder may have its own vocabulary, unless it shares the encoder's embedding."""
    vocab, tied = c.size("vocab_size"), c.flag("tie_word_embeddings")
    own = c.size_or("decoder_vocab_size", vocab)
    if _shares(c) and tied and c.task != "causal":
        return vocab
    return own


def _head_of(vocab: int, head: Value) -> Value:
    """An untied head has vocab_size rows, whatever the decoder's vocabulary."""
    if head == "lm":
        return {"kind": "lm", "vocab": vocab}
    return head
