"""MPNet: BERT without token types, with T5's relative position bias in addition to learned positions."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like

USUAL = "masked"


def translate(c: Config) -> Fields:
    fields = bert_like.encoder(c)
    relative = {"kind": "relative", "buckets": c.size("relative_attention_num_buckets")}
    return {
        **fields,
        "norm": bert_like.POST_NORM,
        "position": [fields["position"], relative],
        "embedding": {"norm": True},
        "encoder": c.size("num_hidden_layers"),
        "head": bert_like.head(c, {"hidden": c.size("hidden_size")}),
    }
