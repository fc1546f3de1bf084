"""Mixtral and those that are like it: experts in every block, no shared ones."""

from __future__ import annotations

from archcalc.importers.hf import heads
from archcalc.importers.hf.blocks import Fields, attention, decoder, top, window
from archcalc.importers.hf.patterns import stack
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import activation

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
    moe = {"experts": number, "top": top(c, number), "width": c.size("intermediate_size")}
    act, shared = activation(c), c.count("shared_intermediate_size") if c.type == "granitemoeshared" else 0
    more: Fields = {"correction": True} if c.type == "minimax_m2" else {}
    return {**moe, "act": act, **more, **({"shared": {"width": shared, "act": act}} if shared else {})}


def window_of(c: Config) -> Fields:
    return window(c) if c.type in ("mixtral", "phimoe") else {}


def _qk_norm(c: Config) -> Fields:
    if c.type == "olmoe" and attention(c)["head_dim"] * c.size("num_attention_heads") != c.size("hidden_size"):
        raise c.refused("head_dim", "the class sizes its query norm by hidden_size, so that such a model cannot run")
    return {"qk_norm": "all"} if c.type in ("minimax_m2", "olmoe") else {}
