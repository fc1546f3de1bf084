"""GTE, Jina embeddings v3 and Nomic BERT: BERT with rotary positions, two of them with a gated FFN."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, heads, rope

TYPES: dict[str, Fields] = {
    "gte": {"gate": {"gated": True, "bias": ["out"]}, "twice": False},
    "jina_embeddings_v3": {"gate": {}, "pools": True},
    "nomic_bert": {"gate": {"gated": True}, "bias": False},
}
USUAL = "masked"


def translate(c: Config, *, gate: Fields, bias: bool = True, twice: bool = True, pools: bool = False) -> Fields:
    """The head is tied unless the file says otherwise, though not every class declares that; `pools`: the bare model
    has a pooler, and a classifier a dense layer in its place."""
    fields, tied = bert_like.encoder(c), c.given("tie_word_embeddings") is not False
    width = c.size_or("head_dim", fields["head_dim"])
    base: Value = bert_like.pooled() if pools else "none"
    dense: Fields = {"hidden": c.size("hidden_size")} if pools else bert_like.POOLER
    masked = bert_like.transformed(tied, twice)
    table: heads.Table = {"base": lambda: base, "masked": lambda: masked, **bert_like.classifiers(c, dense)}
    return {
        **fields,
        "head_dim": width,
        "ffn": {**fields["ffn"], **gate},
        "norm": bert_like.POST_NORM,
        "bias": bias,
        "position": rope(c, width),
        "embedding": bert_like.typed(c),
        "encoder": c.size("num_hidden_layers"),
        "head": heads.for_task(c, table),
    }
