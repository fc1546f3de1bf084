"""Models that are heavy to ask about: deep, of many kinds of layers, or quantised layer by layer. None is real."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]


def deep_seq2seq() -> Data:
    """A decoder whose steps hold all layers, each traced by itself."""
    sizes = {"family": "recurrent", "cell": "lstm", "hidden": 64, "vocab": 1000, "embedding": 32}
    attention = {"score": "additive", "width": 64, "when": "after"}
    return {**sizes, "encoder": {"layers": 40}, "decoder": {"layers": 40}, "attention": attention}


def irregular_hybrid() -> Data:
    """Mamba, experts and attention in an order without a period."""
    pattern = "".join("M*" if layer % 7 == 3 else "ME" if layer % 3 else "MEM" for layer in range(40))
    return {
        "model_type": "nemotron_h",
        "hybrid_override_pattern": pattern,
        "num_hidden_layers": len(pattern),
        "hidden_size": 1024,
        "vocab_size": 32000,
        "n_routed_experts": 64,
        "num_experts_per_tok": 4,
        "quantization_config": {
            "quant_method": "fp8",
            "modules_to_not_convert": [f"re:.*layers.{n}.mixer.*" for n in range(0, 90, 4)],
        },
    }


def many_exceptions() -> Data:
    """A mixture of experts of which thousands of modules are named as left as they are."""
    ignored = [f"model.layers.{layer}.mlp.experts.{expert}.up_proj" for layer in range(60) for expert in range(100)]
    return {
        "model_type": "qwen3_moe",
        "num_hidden_layers": 60,
        "num_experts": 128,
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "format": "float-quantized",
            "ignore": ["lm_head", "re:.*self_attn.*", *ignored],
            "config_groups": {
                "group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}
            },
        },
    }


def a_million_layers() -> Data:
    return {"decoder": 1_000_000, "d_model": 64, "heads": 4, "ffn": 256, "vocab": 1000}


MODELS = {made.__name__: made for made in (deep_seq2seq, irregular_hybrid, many_exceptions, a_million_layers)}
