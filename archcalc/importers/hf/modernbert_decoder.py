"""ModernBERT decoder: causal ModernBERT whose sliding windows are half as wide as the encoder's."""

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, even_heads, ffn, heads, inert, rope, when
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, attentions, first_of_every, layer_types

TYPES = ("modernbert-decoder",)
INERT = {inert.NOT_HERE: "local_attention"}


def translate(c: Config) -> Fields:
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
        head=_head(c),
    )


def _kinds(c: Config, each: int) -> list[Fields]:
    """The first block has no attention norm, since the embedding already has one."""
    layers = layer_types(c, first_of_every(c, c.given("global_attn_every_n_layers") or 3))
    position = rope(c, each, layer=SLIDING)
    local = {"window": max(c.size("local_attention") // 2, 1), "position": position}
    kinds = [when(layer == SLIDING, **local) for layer in layers]
    kinds[0] |= {"norm": "none"}
    return kinds


def _head(c: Config) -> Value:
    """A dense layer and a norm come before the LM head and the sequence classifier."""
    biased = c.flag("classifier_bias")
    dense = {"transform": True, "transform_bias": biased}
    if c.task == "causal":
        return {"kind": heads.tied_or_own(c), "bias": c.flag("decoder_bias"), **dense}
    c.skip("tie_word_embeddings", "decoder_bias")
    if c.task == "sequence":
        return {"kind": "classifier", "classes": heads.labels(c), "bias": biased, "pool": "last", **dense}
    return heads.of_decoder(c)
