"""ALBERT: BERT with factorised embeddings, and blocks that share their weights."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, heads, inert, when

USUAL = "masked"
INERT = {inert.UNREAD: "net_structure_type gap_size num_memory_blocks down_scale_factor"}


def translate(c: Config) -> Fields:
    each, groups, layers = c.size("inner_group_num"), c.size("num_hidden_groups"), c.size("num_hidden_layers")
    width = c.size("embedding_size")
    projected = when(width == c.size("hidden_size"), always_project=True)
    distinct = when(groups != layers, distinct=groups * each)
    own: heads.Table = {"pretraining": lambda: bert_like.language_and_pair(c, heads.labels(c))}
    return {
        **bert_like.encoder(c),
        "norm": bert_like.POST_NORM,
        "embedding": bert_like.typed(c, width=width, **projected),
        "encoder": {"blocks": layers * each, **distinct},
        "head": bert_like.head(c, bert_like.POOLER, own),
    }
