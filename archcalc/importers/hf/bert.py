"""BERT and those built like it: RoBERTa, XLM-R, ELECTRA (narrower embeddings), Megatron-BERT (pre-norm)."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf import heads
from archcalc.importers.hf.blocks import Fields, stacked
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import activation

TYPES = (
    *("bert", "megatron-bert", "ernie", "electra"),
    *("roberta", "xlm-roberta", "camembert", "data2vec-text", "xlm-roberta-xl", "roberta-prelayernorm"),
)
USUAL = "masked"
INERT = (
    "head_dim num_key_value_heads summary_type summary_use_proj summary_activation summary_proj_to_labels"
    " pooler_fc_size pooler_type task_type_vocab_size"
)


def translate(c: Config, task: str) -> Fields:
    pre = c.type in ("megatron-bert", "xlm-roberta-xl", "roberta-prelayernorm")
    causal = c.flag("is_decoder")
    crossed = causal and c.flag("add_cross_attention")
    line = "attention cross ffn" if crossed else "attention ffn"
    return {
        **encoder(c),
        "norm": None if pre else {"place": "post"},
        "cross": {"memory": c.size("hidden_size")} if crossed else None,
        "embedding": embedding(c),
        "decoder" if causal else "encoder": stacked([line] * c.size("num_hidden_layers")),
        "head": head(c, task),
    }


def encoder(c: Config) -> Fields:
    """Sizes, and a plain FFN."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
        "position": {"kind": "learned", "length": c.size("max_position_embeddings")},
    }


def embedding(c: Config) -> Fields:
    fields: Fields = {"types": c.count("type_vocab_size")}
    if c.type not in ("megatron-bert", "xlm-roberta-xl"):
        fields["norm"] = True
    if c.type == "electra" and c.size("embedding_size") != c.size("hidden_size"):
        fields["width"] = c.size("embedding_size")
    return fields


def head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    if task in ("masked", "causal"):
        return language(c, twice=c.type != "electra")
    if task == "base":
        return "none" if c.type == "electra" else {"kind": "none", "pooler": True}
    if task == "choice" and c.type == "electra":
        return classifier(c, task, {}, choice=_summary(c))
    dense = {"pooler": True} if c.type in ("bert", "megatron-bert", "ernie") else {"hidden": c.size("hidden_size")}
    return classifier(c, task, dense)


def _summary(c: Config) -> Fields:
    """ELECTRA sums a text up by a dense layer of its own, unless that is switched off."""
    if c.given("summary_proj_to_labels"):
        raise c.refused("summary_proj_to_labels")
    return {"hidden": c.size("hidden_size")} if c.flag("summary_use_proj") else {"pool": "class"}


def language(c: Config, *, twice: bool) -> Fields:
    """A dense layer and a norm, then the token table again with a bias; untied classes keep a second bias."""
    if c.flag("tie_word_embeddings"):
        return {"kind": "tied", "bias": True, "transform": True}
    return {"kind": "lm", "bias": "twice" if twice else True, "transform": True}


def classifier(c: Config, task: str, dense: Fields, choice: Fields | None = None) -> Fields:
    """Of a sequence, behind `dense`; of each token; of the ends of an answer; of one of several texts."""
    if task == "sequence":
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True, "pool": "class", **dense}
    if task in ("token", "answer"):
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True}
    if task == "choice":
        return {"kind": "classifier", "classes": 1, "bias": True, "pool": "class", **(choice or {"pooler": True})}
    raise heads.refuse(c, task)
