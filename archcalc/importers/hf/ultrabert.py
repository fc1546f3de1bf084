"""UltraBERT: Llama with bidirectional attention; some blocks use sliding windows with their own RoPE base."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, head_dim, heads, inert, local_rope, rope
from archcalc.importers.hf._helpers.layer_types import FULL, full, layer_types, sliding

USUAL = "masked"
INERT = {inert.TRAINING: "prediction_head_size", inert.SUMMARY: "classifier_pooling"}


def translate(c: Config) -> Fields:
    local = local_rope(c, head_dim(c))
    found = sliding(c, layer_types(c, full(c)), c.size_or("sliding_window", 0) or None, **local)
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class"),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return {
        **bert_like.llama_encoder(c),
        "position": rope(c, head_dim(c), layer=FULL),
        "variants": found["variants"],
        "encoder": found["decoder"],
        "head": heads.for_task(c, table),
    }
