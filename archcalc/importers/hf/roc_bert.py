"""RoCBert: BERT with additional glyph and pronunciation embeddings, concatenated with the token embedding."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, when

USUAL = "masked"


def translate(c: Config) -> Fields:
    joined, spare = _tables(c)
    embedding = bert_like.typed(c, **when(joined, joined=list(joined.values())))
    # the pooler of the pretraining class is used only for its contrastive loss, which is not counted
    pretraining = {"pretraining": lambda: {**bert_like.language(c), "beside": bert_like.pooled()}}
    head = bert_like.head(c, bert_like.POOLER, pretraining)
    return bert_like.bert(c, embedding=embedding, head=head, spare=spare or None)


def _tables(c: Config) -> tuple[Fields, Fields]:
    """The embedding tables that the forward pass uses, and those that are stored but unused."""
    tables = {name: [c.size(f"{name}_vocab_size"), c.size(f"{name}_embed_dim")] for name in ("shape", "pronunciation")}
    joins, there = c.flag("concat_input"), {name for name in tables if c.flag(f"enable_{name}")}
    if joins and not there:
        raise c.refused("concat_input", "there is no other embedding to concatenate with the token embedding")
    if there and not joins:
        c.notes.append("glyph and pronunciation embeddings are counted as parameters, but not used in the forward pass")
    read = {name: sizes for name, sizes in tables.items() if joins and name in there}
    return read, {f"{name}_embed": sizes for name, sizes in tables.items() if name not in read}
