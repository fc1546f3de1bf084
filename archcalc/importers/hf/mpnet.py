"""MPNet: BERT without token types, with T5's relative position bias in addition to learned positions."""

from archcalc.importers.hf._helpers import bert_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"


def translate(c: Config, task: str) -> Fields:
    fields = bert_like.encoder(c)
    relative = {"kind": "relative", "buckets": c.size("relative_attention_num_buckets")}
    return {
        **fields,
        "norm": bert_like.POST_NORM,
        "position": [fields["position"], relative],
        "embedding": {"norm": True},
        "encoder": c.size("num_hidden_layers"),
        "head": bert_like.head(c, task, {"hidden": c.size("hidden_size")}),
    }
