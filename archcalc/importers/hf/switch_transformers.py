"""Switch Transformers: T5 with MoE blocks at a fixed interval, which route each token to one expert."""

from archcalc.importers.hf._helpers import Config, Fields, Value, Weights, activation, heads, inert, when, where_used
from archcalc.importers.hf._helpers.layer_types import stack
from archcalc.importers.hf._helpers.moe import sparse_where

USUAL = "seq2seq"
INERT = {inert.NOT_HERE: "add_cross_attention"}
WEIGHTS = Weights(numbered=r"\.expert_\d+")  # experts one by one


def translate(c: Config) -> Fields:
    both, blocks = c.task != "encoder", c.size("num_layers")
    tied = c.flag("tie_word_embeddings")
    further = c.size_or("num_decoder_layers", c.own("num_layers"))
    first = _parts(c, "encoder", blocks, c.own("num_layers"))
    second = _parts(c, "decoder", further, further)
    if c.flag("is_decoder") and not both:
        raise c.refused("is_decoder")
    ffn, routed = {"width": c.size("d_ff"), "act": activation(c, "dense_act_fn")}, c.size("num_experts")
    bias = when(c.flag("router_bias"), router_bias=True)
    moe = {"experts": routed, "top": 1, **ffn, "gated": False, **bias}
    there, stacks = first, {"encoder": _stack("attention", first)}
    tables = {"spare": True}
    if both and tied:
        tables = {"shared": True}
    if both:
        there, stacks = [*first, *second], {**stacks, "decoder": _stack("attention cross", second)}
    table: heads.Table = {"base": heads.none, "encoder": heads.none, "seq2seq": lambda: heads.tied_or_own(c)}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "heads": c.size("num_heads"),
        "head_dim": c.size("d_kv"),
        **where_used(there, ffn=lambda: ffn, moe=lambda: moe),
        "norm": "rms",
        "bias": False,
        "position": {"kind": "relative", "buckets": c.size("relative_attention_num_buckets")},
        "embedding": tables,
        **stacks,
        "head": heads.for_task(c, table),
    }


def _parts(c: Config, name: str, blocks: int, declared: int) -> list[str]:
    """MoE in the second block of every sparse step, or in all blocks if the step is 1, as in the class."""
    sparse = c.count(f"num_sparse_{name}_layers") or 1
    step = c.given_or(f"{name}_sparse_step", declared // sparse)
    return sparse_where(c, lambda block: step == 1 or (step and block % step == 1), blocks)


def _stack(mixers: str, parts: list[str]) -> Value:
    return stack([f"{mixers} {part}" for part in parts], usual=f"{mixers} ffn")
