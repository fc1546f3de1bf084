"""TAPAS: BERT with additional embeddings for a token's row, column and rank in a table."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like

USUAL = "masked"


def translate(c: Config) -> Fields:
    said = c.get("type_vocab_sizes")
    if not isinstance(said, list) or not all(isinstance(rows, int) and rows > 0 for rows in said):
        raise c.wrong("type_vocab_sizes", "a list of sizes")
    return bert_like.bert(c, embedding={"norm": True, "types": said}, head=bert_like.head(c, bert_like.POOLER))
