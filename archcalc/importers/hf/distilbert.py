"""DistilBERT: BERT without token types and pooler."""

from archcalc.importers.hf._helpers import Config, Fields, activation, bert_like, heads
from archcalc.importers.hf._helpers.layer_types import stack

USUAL = "masked"


def translate(c: Config) -> Fields:
    d_model, number = c.size("dim"), c.size("n_heads")
    kind: Fields = c.choose("sinusoidal_pos_embds", {"kind": "sinusoidal", "stored": True}, {"kind": "learned"})
    c.skip("tie_word_embeddings")
    dense = {"hidden": d_model, "act": "relu"}
    table: heads.Table = {
        "base": heads.none,
        "masked": lambda: bert_like.language(c, twice=False),
        **bert_like.classifiers(c, dense, choice=dense),
    }
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("hidden_dim"), "act": activation(c, "activation")},
        "norm": bert_like.POST_NORM,
        "position": {**kind, "length": c.size("max_position_embeddings")},
        "embedding": {"norm": True},
        "encoder": stack(["attention ffn"] * c.size("n_layers")),
        "head": heads.for_task(c, table),
    }
