"""Mixtral and those that are like it: experts in every block, no shared ones."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, decoder, even_heads, head_dim, kv_heads, top, window
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("mixtral", "granitemoe", "granitemoeshared", "phimoe", "minimax_m2", "olmoe")
USUAL = "causal"
INERT = (
    "embedding_multiplier logits_scaling residual_multiplier attention_multiplier clip_qkv norm_topk_prob scoring_func"
)


def translate(c: Config, task: str) -> Fields:
    return decoder(
        c,
        task,
        ffn=None,
        moe=experts(c),
        attention={"bias": c.flag("attention_bias"), **_qk_norm(c), **window_of(c)},
        norm="layer" if c.type == "phimoe" else "rms",
        head=heads.of_decoder(c, task, bias=c.type == "phimoe" and c.flag("lm_head_bias")),
        decoder=stack(["attention moe"] * c.size("num_hidden_layers")),
    )


def experts(c: Config) -> Fields:
    number = c.size("num_experts" if c.type == "olmoe" else "num_local_experts")
    moe = {"experts": number, "top": _top(c, number), "width": c.size("intermediate_size")}
    act, shared = activation(c), c.count("shared_intermediate_size") if c.type == "granitemoeshared" else 0
    more: Fields = {"correction": True} if c.type == "minimax_m2" else {}
    return {**moe, "act": act, **more, **({"shared": {"width": shared, "act": act}} if shared else {})}


def _top(c: Config, number: int) -> int:
    """PhiMoE's router takes two, whatever the file says."""
    if c.type != "phimoe" or c.get("num_experts_per_tok") == 2:
        return top(c, number)
    c.notes.append("num_experts_per_tok is not read by transformers' PhiMoE: its router always takes two")
    return min(2, number)


def window_of(c: Config) -> Fields:
    return window(c) if c.type in ("mixtral", "phimoe") else {}


def _qk_norm(c: Config) -> Fields:
    """OLMoE sizes its norms by hidden_size, whatever the heads are."""
    if c.type == "olmoe" and head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        widths = [c.size("hidden_size"), even_heads(c) * kv_heads(c)]
        c.notes.append("norms on queries and keys are not as wide as those: this model can be built, but not run")
        return {"qk_norm": {"over": "all", "width": widths}}
    return {"qk_norm": "all"} if c.type in ("minimax_m2", "olmoe") else {}
