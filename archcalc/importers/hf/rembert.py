"""RemBERT: BERT with a narrow input embedding and a wider, untied output embedding."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, heads, when

USUAL = "masked"


def translate(c: Config) -> Fields:
    width = c.size("input_embedding_size")
    always = when(width == c.size("hidden_size"), always_project=True)
    c.skip("output_embedding_size")
    own: heads.Table = {"masked": lambda: _language(c, width), "causal": lambda: _language(c, width)}
    head = bert_like.head(c, bert_like.POOLER, own)
    return bert_like.bert(c, embedding=bert_like.typed(c, width=width, **always), head=head)


def _language(c: Config, width: int) -> Fields:
    wide, kind = c.size("output_embedding_size"), heads.tied_or_own(c)
    if wide == width:
        return {"kind": kind, "bias": True, "transform": True}
    if kind == "tied":
        raise c.refused("tie_word_embeddings", "the table that comes out is not as wide as the one that goes in")
    return {"kind": "lm", "bias": True, "transform": wide}
