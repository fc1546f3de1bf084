"""A small Llama whose weights are stored in many ways: its config, its matrices, and the bytes of all layers."""

from __future__ import annotations

from typing import Any

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


def each(matrices: list[Matrix], size: Any) -> int:
    return int(LAYERS * sum(size(rows, columns) for rows, columns in matrices))
