"""EuroBERT: Llama with bidirectional attention."""

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads, inert
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "masked"
INERT = {inert.SUMMARY: "classifier_pooling"}


def translate(c: Config, task: str) -> Fields:
    return {**bert_like.llama_encoder(c), "encoder": c.size("num_hidden_layers"), "head": _head(c, task)}


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    table: heads.Table = {
        "base": heads.none,
        "masked": lambda: _language(c),
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class", **hidden),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return heads.for_task(c, task, table)


def _language(c: Config) -> Any:
    kind = heads.tied_or_own(c)
    return c.choose("mlp_bias", {"kind": kind, "bias": True}, kind)  # one key for both, in its class
