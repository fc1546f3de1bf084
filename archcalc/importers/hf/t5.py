"""T5, T5 v1.1 and UMT5: an encoder-decoder with relative position bias and one shared token embedding."""

from archcalc.importers.hf._helpers import Config, Fields, Value, t5_like

TYPES: dict[str, Fields] = {"t5": {}, "umt5": {"overwritten": True, "per": "block"}}  # a table in every block
USUAL = "seq2seq"
INERT = t5_like.INERT


def translate(c: Config, *, overwritten: bool | None = None, **positions: Value) -> Fields:
    """Only T5 configs also record an untied head in another key, which tells v1.1 from the original."""
    if overwritten is None:
        overwritten = c.given("scale_decoder_outputs") is False
    return t5_like.t5(c, t5_like.head_of_checkpoint(c, overwritten=overwritten), **positions)
