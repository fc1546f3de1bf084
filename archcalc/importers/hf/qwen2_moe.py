"""Qwen 2 and 3 with experts: which blocks are dense is a rule of two fields."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, biased, decoder, ffn, layer_types, sliding, top
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

THIRD = ("qwen3_moe", "qwen3_vl_moe_text", "qwen3_omni_moe_text")
TYPES = ("qwen2_moe", *THIRD)
USUAL = "causal"
INERT = "norm_topk_prob max_window_layers use_sliding_window sliding_window"


def translate(c: Config, task: str) -> Fields:
    moe = experts(c)
    parts = ["moe" if sparse else "ffn" for sparse in sparse_blocks(c, moe["experts"])]
    layers, attention = _layers(c, parts)
    used = {"ffn": ffn(c) if "ffn" in parts else None, "moe": moe if "moe" in parts else None}
    c.skip("intermediate_size", "hidden_act", *_OF_EXPERTS)
    return decoder(c, task, **used, attention=attention, **layers)


_OF_EXPERTS = ("moe_intermediate_size", "shared_expert_intermediate_size", "num_experts_per_tok")


def experts(c: Config) -> Fields:
    """Qwen 3 has no shared expert; the others gate it by a number of its own."""
    number = c.count("num_experts")
    moe = {
        "experts": number,
        "top": top(c, number),
        "width": c.size("moe_intermediate_size"),
        "act": activation(c),
    }
    if c.type in THIRD:
        return moe
    shared = {"width": c.count("shared_expert_intermediate_size"), "act": activation(c)}
    return {**moe, "shared": shared, "shared_gate": True}


def sparse_blocks(c: Config, experts: int) -> list[bool]:
    """Blocks with experts: each `decoder_sparse_step`-th, but none of `mlp_only_layers`."""
    step, dense = c.size("decoder_sparse_step"), c.get("mlp_only_layers") or []
    blocks = range(c.size("num_hidden_layers"))
    return [block not in dense and experts > 0 and (block + 1) % step == 0 for block in blocks]


def _layers(c: Config, parts: list[str]) -> tuple[Fields, Fields]:
    if c.type in THIRD:
        window = c.given("sliding_window") if c.flag("use_sliding_window") else None
        attention = {"bias": c.flag("attention_bias"), "qk_norm": "head", **({"window": window} if window else {})}
        return {"decoder": stack([f"attention {part}" for part in parts])}, attention
    slides = c.flag("use_sliding_window")
    last = c.get("max_window_layers")
    usual = [
        "sliding_attention" if slides and block % 2 == 0 and block < last else "full_attention"
        for block in range(len(parts))
    ]
    window = c.given("sliding_window") if slides else None
    return sliding(c, layer_types(c, usual), window, part=parts), {"bias": biased(qkv=c.flag("qkv_bias"))}
