"""YOSO and MRA: RoBERTas whose attention is approximated, with the parameters of the full one."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import classifier, encoder, language

TYPES = ("yoso", "mra")
USUAL = "masked"
INERT = (
    "head_dim num_key_value_heads use_expectation hash_code_len num_hash use_fast_hash lsh_backward block_per_row"
    " approx_mode initial_prior_first_n_blocks initial_prior_diagonal_n_blocks add_cross_attention"
)


def translate(c: Config, task: str) -> Fields:
    if c.given("conv_window"):
        raise c.refused("conv_window")
    c.notes.append("attention that the class approximates is counted as full attention")
    fields = encoder(c)
    return {
        **fields,
        "norm": {"place": "post"},
        "position": {**fields["position"], "offset": 2},
        "embedding": {"norm": True, "types": c.count("type_vocab_size")},
        "encoder": c.size("num_hidden_layers"),
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    if task == "base":
        return "none"
    if task == "masked":
        return language(c, twice=True)
    if task == "answer":  # where it starts, and where it ends, whatever else there are labels for
        return {"kind": "classifier", "classes": 2, "bias": True}
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    return classifier(c, task, hidden, choice={**hidden, "act": "relu"})
