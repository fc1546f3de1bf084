"""RoFormer: BERT with rotary position embeddings, whose sines and cosines are stored as a table."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, heads, inert, when

USUAL = "masked"
INERT = {inert.SUMMARY: "summary_type summary_proj_to_labels summary_use_proj"}


def translate(c: Config) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size_or("embedding_size", d_model)
    narrow = when(width != d_model, width=width)
    if d_model // number % 2:
        why = "RoPE rotates pairs of numbers, so the head size must be even: such a model cannot run"
        raise c.refused("num_attention_heads", why)
    position = {"kind": "rope", "length": c.size("max_position_embeddings"), "stored": True}
    own: heads.Table = {
        "base": heads.none,
        "choice": lambda: heads.classifier(1, pool="last"),
        "answer": lambda: heads.classifier(heads.SPAN),  # whatever else there are labels for
    }
    head = bert_like.head(c, {"hidden": d_model, "act": "gelu"}, own)
    return bert_like.bert(c, position=position, embedding=bert_like.typed(c, **narrow), head=head)
