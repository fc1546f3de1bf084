"""RoFormer: BERT with rotary position embeddings, whose sines and cosines are stored as a table."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, heads, inert, when

USUAL = "masked"
INERT = {inert.SUMMARY: "summary_type summary_proj_to_labels summary_use_proj"}


def translate(c: Config) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size_or("embedding_size", d_model)
    narrow = when(width != d_model, width=width)
    if d_model // number % 2:
        raise c.refused(
            "num_attention_heads",
            "RoPE rotates pairs of numbers, so the head size must be even: such a model cannot run",
        )
    position = {"kind": "rope", "length": c.size("max_position_embeddings"), "stored": True}
    return bert_like.bert(c, position=position, embedding=bert_like.typed(c, **narrow), head=_head(c))


def _head(c: Config) -> Value:
    own: heads.Table = {
        "base": heads.none,
        "choice": lambda: heads.classifier(1, pool="last"),
        "answer": lambda: heads.classifier(heads.SPAN),  # whatever else there are labels for
    }
    return bert_like.head(c, {"hidden": c.size("hidden_size"), "act": "gelu"}, own)
