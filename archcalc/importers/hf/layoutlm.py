"""LayoutLM: BERT with additional 2-D position embeddings for the bounding box of each word."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like

USUAL = "masked"


def translate(c: Config) -> Fields:
    """One table for left and right x, one for upper and lower y, then height and width."""
    tables = [c.count("type_vocab_size"), *[c.size("max_2d_position_embeddings")] * 4]
    head = bert_like.with_pooler(bert_like.head(c, bert_like.POOLER))
    return bert_like.bert(c, embedding={"norm": True, "types": tables}, head=head)
