"""Switch Transformers: T5 with a mixture of experts, one for each token, in every few blocks."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("switch_transformers",)
USUAL = "seq2seq"
INERT = (
    "head_dim num_key_value_heads expert_capacity router_dtype router_ignore_padding_tokens add_router_probs"
    " relative_attention_max_distance router_jitter_noise add_cross_attention"
)


def translate(c: Config, task: str) -> Fields:
    both, blocks = task != "encoder", c.size("num_layers")
    tied = c.flag("tie_word_embeddings")
    act, width = activation(c, "dense_act_fn"), c.size("d_ff")
    further = c.size_or("num_decoder_layers", c.own("num_layers"))
    encoder = _stack(c, "encoder", blocks, c.own("num_layers"), "attention")
    decoder = _stack(c, "decoder", further, further, "attention cross")
    if c.flag("is_decoder") and not both:
        raise c.refused("is_decoder")
    said = f"{encoder} {decoder if both else ''}"
    dense = blocks and (" ffn" in said or isinstance(encoder, int) or (both and isinstance(decoder, int)))
    moe = {"experts": c.size("num_experts"), "top": 1, "width": width, "act": act, "gated": False}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "heads": c.size("num_heads"),
        "head_dim": c.size("d_kv"),
        "ffn": {"width": width, "act": act} if dense else None,
        "moe": {**moe, **({"router_bias": True} if c.flag("router_bias") else {})} if " moe" in said else None,
        "norm": "rms",
        "bias": False,
        "position": {"kind": "relative", "buckets": c.size("relative_attention_num_buckets")},
        "embedding": {"shared": True} if both and tied else {"spare": True},
        "encoder": encoder,
        "decoder": decoder if both else None,
        "head": _head(c, task),
    }


def _stack(c: Config, name: str, blocks: int, declared: int, parts: str) -> Any:
    """Experts in the second block of every few, in all where a few is one; so does the class count."""
    sparse = c.count(f"num_sparse_{name}_layers")
    derived = declared // sparse if sparse else declared
    step = derived if c.given(f"{name}_sparse_step") is None else c.given(f"{name}_sparse_step")
    lines = [f"{parts} {'moe' if step == 1 or (step and block % step == 1) else 'ffn'}" for block in range(blocks)]
    return stack(lines, usual=f"{parts} ffn")


def _head(c: Config, task: str) -> Any:
    if task in ("base", "encoder"):
        return "none"
    if task == "seq2seq":
        return "tied" if c.flag("tie_word_embeddings") else "lm"
    raise heads.refuse(c, task)
