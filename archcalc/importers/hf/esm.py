"""ESM-2 and ESM-1b: pre-norm protein language models with learned or rotary positions."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, heads, inert, rope_of, when

USUAL = "masked"
INERT = {inert.NOT_HERE: "rope_theta"}


def translate(c: Config) -> Fields:
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
