"""ModernBERT: pre-norm encoders and decoders with sliding windows in most blocks."""

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    activation,
    decoder,
    even_heads,
    ffn,
    heads,
    inert,
    local_theta,
    rope,
    when,
)
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, attentions, first_of_every, layer_types, stack

USUAL = {"modernbert": "masked"}
INERT = {
    "modernbert": {inert.USUAL_LAYERS: "global_attn_every_n_layers", inert.SUMMARY: "classifier_pooling"},
    "_modernbert_decoder": {inert.NOT_HERE: "local_attention"},
}


def modernbert(c: Config) -> Fields:
    """ModernBERT: a gated FFN, alternating sliding-window and full attention, no attention norm in the first block."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    usual = first_of_every(c, c.given("global_attn_every_n_layers") or 3)
    words, variants = _words(c, layer_types(c, usual))
    act, theta = activation(c, "hidden_activation"), c.given("global_rope_theta") or 0
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "attention": {"bias": c.flag("attention_bias")},
        "ffn": {"width": c.size("intermediate_size"), "act": act, "gated": True, "bias": c.flag("mlp_bias")},
        "norm": {"bias": c.flag("norm_bias")},
        "position": rope(c, d_model // number, layer=FULL, theta=theta),
        "embedding": {"norm": True},
        "variants": variants,
        "encoder": stack([f"{word} ffn" for word in words]),
        "head": _head(c),
    }


def _words(c: Config, layers: list[str]) -> tuple[list[str], Fields]:
    """The first block has no attention norm, since the embedding already has one."""
    theta = local_theta(c, older="local_rope_theta")
    local = {"window": c.size("local_attention"), "position": {"kind": "rope", "theta": theta}}
    known = {SLIDING: "local", FULL: "attention"}
    first = {"like": "attention", **when(layers[0] == SLIDING, **local), "norm": "none"}
    words = ["first", *(known[layer] for layer in layers[1:])]
    return words, {"first": first, **when("local" in words, local={"like": "attention", **local})}


def _head(c: Config) -> Value:
    """A dense layer and a norm come before every head."""
    kind, bias = heads.tied_or_own(c), c.flag("decoder_bias")
    dense = {"transform": True, "transform_bias": c.flag("classifier_bias")}
    pool = {"mean": "mean", "cls": "class"}.get(c.given("classifier_pooling"), "class")
    table: heads.Table = {
        "base": heads.none,
        "masked": lambda: {"kind": kind, "bias": bias, **dense},
        "sequence": lambda: heads.classifier(heads.labels(c), pool=pool, **dense),
        "token": lambda: heads.classifier(heads.labels(c), **dense),
        "answer": lambda: heads.classifier(heads.labels(c), **dense),
        "choice": lambda: heads.classifier(1, pool="class", **dense),
    }
    return heads.for_task(c, table)


def _modernbert_decoder(c: Config) -> Fields:
    """ModernBERT decoder: causal ModernBERT whose sliding windows are half as wide as the encoder's."""
    number, each = c.size("num_attention_heads"), even_heads(c)
    return decoder(
        c,
        kv_heads=number,
        head_dim=each,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, act="hidden_activation", bias=c.flag("mlp_bias")),
        norm={"kind": "layer", "bias": c.flag("norm_bias")},
        position=rope(c, each, layer=FULL),
        embedding={"norm": True},
        **attentions(_kinds(c, each), ["ffn"] * c.size("num_hidden_layers")),
        head=_modernbert_decoder_head(c),
    )


def _kinds(c: Config, each: int) -> list[Fields]:
    """The first block has no attention norm, since the embedding already has one."""
    layers = layer_types(c, first_of_every(c, c.given("global_attn_every_n_layers") or 3))
    position = rope(c, each, layer=SLIDING)
    local = {"window": max(c.size("local_attention") // 2, 1), "position": position}
    kinds = [when(layer == SLIDING, **local) for layer in layers]
    kinds[0] |= {"norm": "none"}
    return kinds


def _modernbert_decoder_head(c: Config) -> Value:
    """A dense layer and a norm come before the LM head and the sequence classifier."""
    biased = c.flag("classifier_bias")
    dense = {"transform": True, "transform_bias": biased}
    if c.task == "causal":
        return {"kind": heads.tied_or_own(c), "bias": c.flag("decoder_bias"), **dense}
    c.skip("tie_word_embeddings", "decoder_bias")
    if c.task == "sequence":
        return {"kind": "classifier", "classes": heads.labels(c), "bias": biased, "pool": "last", **dense}
    return heads.of_decoder(c)


TYPES = {"modernbert-decoder": _modernbert_decoder}
