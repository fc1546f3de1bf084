"""Small decoders: the fields that most configs of transformers share, and the spec that says the same."""

from __future__ import annotations

from typing import Any

VOCAB, D, HEADS, KV, FFN, BLOCKS = 90, 48, 6, 2, 40, 4
QKV_BIAS = {"bias": ["q", "k", "v"]}


def hf(**changes: Any) -> dict[str, Any]:
    """The fields that most configs share."""
    sizes = {"vocab_size": VOCAB, "hidden_size": D, "num_attention_heads": HEADS, "num_key_value_heads": KV}
    sizes |= {"intermediate_size": FFN, "num_hidden_layers": BLOCKS, "bos_token_id": 1, "eos_token_id": 2}
    return {**sizes, "pad_token_id": None, **changes}


def gated(width: int = FFN, act: str = "silu") -> dict[str, Any]:
    return {"width": width, "act": act, "gated": True}


def usual(**changes: Any) -> dict[str, Any]:
    """Pre-norm with RMS, RoPE, a gated FFN, no bias; `None` takes a field out."""
    sizes: dict[str, Any] = {"vocab": VOCAB, "d_model": D, "heads": HEADS, "kv_heads": KV, "ffn": gated()}
    said = {**sizes, "norm": "rms", "bias": False, "position": "rope", "decoder": BLOCKS, **changes}
    return {name: value for name, value in said.items() if value is not None}


def blocks(*pattern: Any, number: int = BLOCKS) -> dict[str, Any]:
    return {"blocks": number, "pattern": list(pattern)}


LOCAL = {"local": {"like": "attention", "window": 7}}
OUT, SANDWICH = {"kind": "rms", "place": "out"}, {"kind": "rms", "place": "sandwich"}
LEARNED = {"kind": "learned", "length": 64}
NO_KV = {"num_key_value_heads": HEADS}

EXPERTS, TOP, WIDTH, SHARED = 8, 2, 20, 28
MOE = {"experts": EXPERTS, "top": TOP, "width": FFN}
NARROW = {"experts": EXPERTS, "top": TOP, "width": WIDTH}
LOCAL_EXPERTS = {"num_local_experts": EXPERTS, "num_experts_per_tok": TOP}
ROUTED = {"n_routed_experts": EXPERTS, "num_experts_per_tok": TOP, "moe_intermediate_size": WIDTH}
NUMBERED = {"num_experts": EXPERTS, "num_experts_per_tok": TOP, "moe_intermediate_size": WIDTH}
