"""BERT and those built like it: RoBERTa, XLM-R, ELECTRA (narrower embeddings), Megatron-BERT (pre-norm)."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, divided, stacked
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

ROBERTA = ("roberta", "xlm-roberta", "camembert", "data2vec-text", "xlm-roberta-xl", "roberta-prelayernorm", "ibert")
FROM_PADDING = (*ROBERTA, "longformer")  # positions are counted from that of padding
TYPES = ("bert", "megatron-bert", "ernie", "electra", *ROBERTA)
USUAL = "masked"
INERT = (
    "head_dim num_key_value_heads summary_type summary_use_proj summary_activation summary_proj_to_labels"
    " pooler_fc_size pooler_type task_type_vocab_size force_dequant"
)


def translate(c: Config, task: str) -> Fields:
    pre = c.type in ("megatron-bert", "xlm-roberta-xl", "roberta-prelayernorm")
    return {
        **encoder(c),
        "norm": None if pre else {"place": "post"},
        "embedding": embedding(c),
        **stack(c),
        "head": head(c, task),
    }


def stack(c: Config) -> Fields:
    """Blocks that see the whole text; as a decoder only what stands before, and perhaps what another model read."""
    causal = c.flag("is_decoder")
    crossed = causal and c.flag("add_cross_attention")
    line = "attention cross ffn" if crossed else "attention ffn"
    return {
        "cross": {"memory": c.size("hidden_size")} if crossed else None,
        "decoder" if causal else "encoder": stacked([line] * c.size("num_hidden_layers")),
    }


def encoder(c: Config) -> Fields:
    """Sizes, and a plain FFN."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": divided(c, d_model, number),
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
        "position": _positions(c),
    }


def _positions(c: Config) -> Fields:
    """RoBERTa counts from the row behind that of padding, so that the rows up to there are used by no token."""
    rows, padding = c.size("max_position_embeddings"), c.given("pad_token_id")
    if c.type not in FROM_PADDING or not isinstance(padding, int) or not 0 <= padding < min(rows - 1, 1024):
        return {"kind": "learned", "length": rows}
    return {"kind": "learned", "length": rows - padding - 1, "offset": padding + 1}


def embedding(c: Config) -> Fields:
    kinds = c.count("type_vocab_size")
    tasks = c.size("task_type_vocab_size") if c.flag("use_task_id") else 0
    fields: Fields = {"types": [kinds, tasks] if tasks else kinds}
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
    if c.type == "electra":
        return _electra(c, task)
    if task == "pretraining":
        return {**language(c, twice=True), "beside": pair(2)}
    dense = {"pooler": True} if c.type in ("bert", "megatron-bert", "ernie") else {"hidden": c.size("hidden_size")}
    return classifier(c, task, dense)


def _electra(c: Config, task: str) -> Fields:
    """It tells of every token whether it was replaced; of a text it tells the class behind a layer of its own."""
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    if task == "pretraining":
        return {"kind": "classifier", "classes": 1, "bias": True, **hidden, "act": activation(c)}
    return classifier(c, task, hidden, choice=_summary(c) if task == "choice" else None)


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


def pair(classes: int) -> Fields:
    """Of two texts: does one follow the other?"""
    return {"kind": "classifier", "classes": classes, "bias": True, "pool": "class", "pooler": True}


def classifier(c: Config, task: str, dense: Fields, choice: Fields | None = None) -> Fields:
    """Of a sequence, behind `dense`; of each token; of the ends of an answer; of one of several texts."""
    if task == "sequence":
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True, "pool": "class", **dense}
    if task in ("token", "answer"):
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True}
    if task == "choice":
        return {"kind": "classifier", "classes": 1, "bias": True, "pool": "class", **(choice or {"pooler": True})}
    if task == "next":
        return pair(2)
    raise heads.refuse(c, task)
