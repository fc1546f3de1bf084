"""Encoders like BERT with other positions or another attention."""

from functools import partial

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    bert_like,
    biased,
    heads,
    inert,
    rope,
    rope_of,
    when,
)
from archcalc.importers.hf._helpers.layer_types import longformer_windows

USUAL = "masked"
INERT = {
    "big_bird": {inert.APPROXIMATE: "block_size"},
    "esm": {inert.NOT_HERE: "rope_theta"},
    "roformer": {inert.SUMMARY: "summary_type summary_proj_to_labels summary_use_proj"},
    "yoso": {inert.NOT_HERE: "add_cross_attention"},
}


def big_bird(c: Config) -> Fields:
    """BigBird: BERT with optional block-sparse attention, which changes no parameters."""
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, which the class uses for short sequences")
    if c.task == "answer":
        raise heads.refuse(c)
    attention = {"bias": biased(qkv=c.flag("use_bias"), o=True)}
    head = bert_like.head(c, {"hidden": c.size("hidden_size"), "act": "gelu"})
    return bert_like.bert(c, attention=attention, head=bert_like.with_pooler(head))


def esm(c: Config) -> Fields:
    """ESM-2 and ESM-1b: pre-norm protein language models with learned or rotary positions."""
    d_model, number, blocks = c.size("hidden_size"), c.size("num_attention_heads"), c.size("num_hidden_layers")
    if c.flag("is_folding_model"):
        raise c.refused("is_folding_model")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("intermediate_size"), "act": "gelu"},
        "position": _position(c, d_model // number),
        "embedding": when(c.given_flag("emb_layer_norm_before"), norm=True),
        **bert_like.blocks(c),
        "head": _head(c),
        "spare": {"contact_weight": [1, blocks * number], "contact_bias": [1]},  # predicts contacts, on request alone
    }


def _position(c: Config, width: int) -> Fields:
    length, kind = c.size("max_position_embeddings"), c.text("position_embedding_type")
    if kind == "rotary":
        return rope_of(c, width, width, length)
    if kind == "absolute":
        return {"kind": "learned", "length": length}
    return {"kind": "none"}


def _head(c: Config) -> Value:
    kind = heads.tied_or_own(c)
    table: heads.Table = {
        "base": bert_like.pooled,
        "masked": lambda: {"kind": kind, "bias": True, "transform": True},
        **bert_like.classifiers(c, {"hidden": c.size("hidden_size")}),
    }
    return heads.for_task(c, table)


def gte(c: Config, *, gate: Fields, bias: bool = True, twice: bool = True, pools: bool = False) -> Fields:
    """GTE, Jina embeddings v3 and Nomic BERT: BERT with rotary positions, two of them with a gated FFN.

    The head is tied unless the file says otherwise, though not every class declares that; `pools`: the bare model has a
    pooler, and a classifier a dense layer in its place."""
    fields, tied = bert_like.sizes(c), c.given("tie_word_embeddings") is not False
    width = c.size_or("head_dim", fields["head_dim"])
    base: Value = bert_like.pooled() if pools else "none"
    dense: Fields = {"hidden": c.size("hidden_size")} if pools else bert_like.POOLER
    masked = bert_like.transformed(tied, twice)
    table: heads.Table = {"base": lambda: base, "masked": lambda: masked, **bert_like.classifiers(c, dense)}
    return {
        **fields,
        "head_dim": width,
        "ffn": {**fields["ffn"], **gate},
        "norm": bert_like.POST_NORM,
        "bias": bias,
        "position": rope(c, width),
        "embedding": bert_like.typed(c),
        "encoder": c.size("num_hidden_layers"),
        "head": heads.for_task(c, table),
    }


def longformer(c: Config) -> Fields:
    """Longformer: RoBERTa with sliding-window attention, and second q, k, v projections for global attention."""
    attention, variants, blocks = longformer_windows(c, c.size("num_hidden_layers"))
    position, head = bert_like.positions_behind_padding(c), bert_like.head(c, {"hidden": c.size("hidden_size")})
    return bert_like.bert(c, attention=attention, position=position, variants=variants, encoder=blocks, head=head)


def mpnet(c: Config) -> Fields:
    """MPNet: BERT without token types, with T5's relative position bias in addition to learned positions."""
    learned = {"kind": "learned", "length": c.size("max_position_embeddings")}
    position = [learned, {"kind": "relative", "buckets": c.size("relative_attention_num_buckets")}]
    blocks, head = c.size("num_hidden_layers"), bert_like.head(c, {"hidden": c.size("hidden_size")})
    return bert_like.bert(c, position=position, embedding={"norm": True}, encoder=blocks, head=head)


def roformer(c: Config) -> Fields:
    """RoFormer: BERT with rotary position embeddings, whose sines and cosines are stored as a table."""
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


def yoso(c: Config) -> Fields:
    """YOSO and MRA: RoBERTa with approximate attention, which has the same parameters as full attention."""
    if c.given("conv_window"):
        raise c.refused("conv_window")
    c.notes.append("the approximate attention of this class is counted as full attention")
    position = {"kind": "learned", "length": c.size("max_position_embeddings"), "offset": 2}
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    own: heads.Table = {
        "base": heads.none,
        "choice": lambda: heads.classifier(1, pool="class", **{**hidden, "act": "relu"}),
        "answer": lambda: heads.classifier(heads.SPAN),  # whatever else there are labels for
    }
    head = bert_like.head(c, hidden, own)
    return bert_like.bert(c, position=position, encoder=c.size("num_hidden_layers"), head=head)


TYPES = {
    "gte": partial(gte, gate={"gated": True, "bias": ["out"]}, twice=False),
    "jina_embeddings_v3": partial(gte, gate={}, pools=True),
    "nomic_bert": partial(gte, gate={"gated": True}, bias=False),
    "mra": yoso,
}
