"""BigBird: BERT whose attention may look at blocks of the text only; the same parameters either way."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, biased
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import classifier, encoder, language, pair, stack

TYPES = ("big_bird",)
USUAL = "masked"
INERT = "head_dim num_key_value_heads rescale_embeddings block_size num_random_blocks"


def translate(c: Config, task: str) -> Fields:
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, as the class computes short texts")
    return {
        **encoder(c),
        "attention": {"bias": biased(qkv=c.flag("use_bias"), o=True)},
        "norm": {"place": "post"},
        "embedding": {"norm": True, "types": c.count("type_vocab_size")},
        **stack(c),
        "head": _head(c, task),
    }


def _head(c: Config, task: str) -> Fields:
    """Every class pools, whether or not its head asks for it."""
    c.skip("tie_word_embeddings")
    pooler = {"kind": "none", "pooler": True}
    if task == "base":
        return pooler
    if task == "answer":
        raise heads.refuse(c, task)
    if task == "pretraining":
        return {**language(c, twice=True), "beside": pair(2)}
    if task in ("masked", "causal"):
        return {**language(c, twice=True), "beside": pooler}
    found = classifier(c, task, {"hidden": c.size("hidden_size"), "act": "gelu"})
    return found if "pooler" in found else {**found, "beside": pooler}
