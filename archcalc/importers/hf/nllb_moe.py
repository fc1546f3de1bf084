"""NLLB-MoE: M2M-100 with a mixture of experts in every few blocks, two for each token."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("nllb-moe",)
USUAL = "seq2seq"
INERT = (
    "head_dim num_key_value_heads scale_embedding router_dtype router_ignore_padding_tokens expert_capacity"
    " second_expert_policy normalize_router_prob_before_dropping batch_prioritized_routing"
    " moe_eval_capacity_token_fraction"
)


def translate(c: Config, task: str) -> Fields:
    tied, act = c.flag("tie_word_embeddings"), activation(c, "activation_function")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "position": {"kind": "sinusoidal", "length": c.size("max_position_embeddings")},
        "embedding": {"shared": True} if tied else {"spare": True},
        "encoder": _stack(c, "encoder", "attention", act),
        "decoder": _stack(c, "decoder", "attention cross", act),
        "head": _head(c, task, tied),
    }


def _stack(c: Config, name: str, parts: str, act: str) -> Fields:
    step, blocks, width = c.count(f"{name}_sparse_step"), c.size(f"{name}_layers"), c.size(f"{name}_ffn_dim")
    lines = [f"{parts} {'moe' if step and (block + 1) % step == 0 else 'ffn'}" for block in range(blocks)]
    found = stack(lines, usual=f"{parts} ffn")
    experts = {
        "experts": c.size("num_experts"),
        "top": min(2, c.size("num_experts")),
        "width": width,
        "act": act,
        "gated": False,
        "bias": True,
        **({"router_bias": True} if c.flag("router_bias") else {}),
    }
    return {
        **(found if isinstance(found, dict) else {"blocks": found}),
        "heads": c.size(f"{name}_attention_heads"),
        **({"ffn": {"width": width, "act": act}} if any(line.endswith("ffn") for line in lines) else {}),
        **({"moe": experts} if any(line.endswith("moe") for line in lines) else {}),
    }


def _head(c: Config, task: str, tied: bool) -> Any:
    if task == "base":
        return "none"
    if task == "seq2seq":
        return "tied" if tied else "lm"
    raise heads.refuse(c, task)
