"""RoFormer: BERT with rotary position embeddings, whose sines and cosines are stored as a table."""

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads, inert
from archcalc.importers.hf._helpers.reading import Config, Fields, when

USUAL = "masked"
INERT = {inert.SUMMARY: "summary_type summary_proj_to_labels summary_use_proj"}


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size_or("embedding_size", d_model)
    narrow = when(width != d_model, width=width)
    if d_model // number % 2:
        raise c.refused(
            "num_attention_heads",
            "RoPE rotates pairs of numbers, so the head size must be even: such a model cannot run",
        )
    position = {"kind": "rope", "length": c.size("max_position_embeddings"), "stored": True}
    return bert_like.bert(c, position=position, embedding=bert_like.typed(c, **narrow), head=_head(c, task))


def _head(c: Config, task: str) -> Any:
    own: heads.Table = {
        "base": heads.none,
        "choice": lambda: heads.classifier(1, pool="last"),
        "answer": lambda: heads.classifier(heads.SPAN),  # whatever else there are labels for
    }
    return bert_like.head(c, task, {"hidden": c.size("hidden_size"), "act": "gelu"}, own)
