"""A small Llama whose weights are stored in many ways: its config, its matrices, and the bytes of all layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from archcalc import load

D, FFN, LAYERS, VOCAB = 512, 1024, 4, 1000
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": D,
    "intermediate_size": FFN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": VOCAB,
    "torch_dtype": "bfloat16",
}
Matrix = tuple[int, int]  # outputs, inputs
ATTENTION: list[Matrix] = [(D, D), (D // 4, D), (D // 4, D), (D, D)]
MLP: list[Matrix] = [(FFN, D), (FFN, D), (D, FFN)]
BLOCK = ATTENTION + MLP
REST = 2 * (2 * VOCAB * D + LAYERS * 2 * D + D)  # table, head and norms
DYNAMIC = {"dynamic": True}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128}
FLOAT8 = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}
INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": True}


def each(matrices: list[Matrix], size: Any) -> int:
    return int(LAYERS * sum(size(rows, columns) for rows, columns in matrices))


def weights(folder: Path, config: dict[str, Any], quantised: dict[str, Any] | None = None, **options: Any) -> int:
    """Bytes of the weights of a config with this `quantization_config`."""
    file = folder / "config.json"
    file.write_text(json.dumps({**config, "quantization_config": quantised}), encoding="utf-8")
    return int(load(file).memory(seq=32, overhead=0, **options).parts["weights"])


def tensors(weights: dict[str, Any], form: str, **more: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": DYNAMIC}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "ignore": ["lm_head"],
        "config_groups": {"0": group},
        **more,
    }
