"""DistilBERT: BERT without token types and pooler."""

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, bert_like, heads, stack

USUAL = "masked"


def translate(c: Config) -> Fields:
    d_model, number = c.size("dim"), c.size("n_heads")
    kind: Fields = c.choose("sinusoidal_pos_embds", {"kind": "sinusoidal", "stored": True}, {"kind": "learned"})
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
        "head": _head(c, {"hidden": d_model, "act": "relu"}),
    }


def _head(c: Config, dense: Fields) -> Value:
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "masked": lambda: bert_like.language(c, twice=False),
        **bert_like.classifiers(c, dense, choice=dense),
    }
    return heads.for_task(c, table)
