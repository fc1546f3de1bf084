"""ModernBERT: a gated FFN, alternating sliding-window and full attention, no attention norm in the first block."""

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, heads, inert, local_theta, rope, when
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, first_of_every, layer_types
from archcalc.importers.hf._helpers.patterns import stack

USUAL = "masked"
INERT = {inert.USUAL_LAYERS: "global_attn_every_n_layers", inert.SUMMARY: "classifier_pooling"}


def translate(c: Config) -> Fields:
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
