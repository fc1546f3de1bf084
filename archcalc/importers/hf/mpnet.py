"""MPNet: BERT without token types, with T5's relative positions beside its own."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import encoder, head

TYPES = ("mpnet",)
USUAL = "masked"
INERT = "head_dim num_key_value_heads"


def translate(c: Config, task: str) -> Fields:
    fields = encoder(c)
    relative = {"kind": "relative", "buckets": c.size("relative_attention_num_buckets")}
    return {
        **fields,
        "norm": {"place": "post"},
        "position": [fields["position"], relative],
        "embedding": {"norm": True},
        "encoder": c.size("num_hidden_layers"),
        "head": head(c, task),
    }
