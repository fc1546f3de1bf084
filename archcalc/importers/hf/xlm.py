"""XLM and FlauBERT: BERT-like encoders with optional language embeddings and a plain linear LM head."""

from archcalc.importers.hf._helpers import Config, Fields, Value, heads, inert

TYPES = ("xlm", "flaubert")
USUAL = "masked"
INERT = {inert.SUMMARY: "start_n_top end_n_top summary_type", inert.UNREAD: "is_encoder"}


def translate(c: Config) -> Fields:
    d_model, number = c.size("emb_dim"), c.size("n_heads")
    if c.flag("asm") and c.task in ("masked", "causal"):
        raise c.refused("asm")
    fixed, learned = {"kind": "sinusoidal", "stored": True}, {"kind": "learned"}
    kind: Fields = c.choose("sinusoidal_embeddings", fixed, learned)
    norm: Fields = c.choose("pre_norm", {"final": False}, {"place": "post"})
    c.skip("n_langs")
    languages = 0
    if c.flag("use_lang_emb") and c.size("n_langs") > 1:
        languages = c.size("n_langs")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "ffn": {"width": 4 * d_model, "act": c.choose("gelu_activation", "gelu", "relu")},
        "norm": norm,
        "position": {**kind, "length": c.size("max_position_embeddings")},
        "embedding": {"norm": True, "types": languages},
        c.choose("causal", "decoder", "encoder"): c.size("n_layers"),
        "head": _head(c),
    }


def _head(c: Config) -> Value:
    labels, kind, used = heads.labels(c), heads.tied_or_own(c), c.flag("summary_use_proj")
    to_labels = c.flag("summary_proj_to_labels")
    table: dict[str, Value] = {
        "base": heads.none,
        "masked": lambda: {"kind": kind, "bias": True},
        "causal": lambda: {"kind": kind, "bias": True},
        "token": lambda: heads.classifier(labels),
        "answer": lambda: heads.classifier(labels),
    }
    if used:
        classes = c.choose("summary_proj_to_labels", labels, c.size("emb_dim"))
        table["sequence"] = lambda: heads.classifier(classes, pool="class")
    if used and to_labels:
        table["choice"] = lambda: heads.classifier(1, pool="class", hidden=labels, act="identity")
    return heads.for_task(c, table)
