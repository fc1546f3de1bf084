"""Small safetensors files, and a Llama's config with its weights, for tests of whatever reads them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Tensors = dict[str, tuple[str, list[int]]]  # name to dtype and shape

WIDTHS = {"F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E8M0": 1, "F8_E4M3FNUZ": 1, "F8_E5M2FNUZ": 1, "C64": 8}
WIDTHS |= {"I8": 1, "U8": 1, "BOOL": 1, "I32": 4, "U32": 4, "I64": 8}


def file(tensors: Tensors, changes: dict[str, Any] | None = None) -> bytes:
    """A whole file with zeros for numbers; `changes` replace entries of its header."""
    header, end = header_of(tensors, changes)
    return header + bytes(end)


def sparse(path: Path, tensors: Tensors) -> Path:
    """The same on a disk, where its zeros take no room."""
    header, end = header_of(tensors)
    path.write_bytes(header)
    os.truncate(path, len(header) + end)
    return path


def header_of(tensors: Tensors, changes: dict[str, Any] | None = None) -> tuple[bytes, int]:
    """What stands before the numbers, and how many bytes these take."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (kind, shape) in tensors.items():
        size = WIDTHS[kind]
        for side in shape:
            size *= side
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    header = json.dumps({**entries, **(changes or {})}).encode()
    return len(header).to_bytes(8, "little") + header, end


CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 100,
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "tie_word_embeddings": True,
}
WEIGHTS: Tensors = {
    "model.embed_tokens.weight": ("BF16", [100, 8]),
    **{f"model.layers.0.self_attn.{name}_proj.weight": ("BF16", [8, 8]) for name in "qkvo"},
    **{f"model.layers.0.mlp.{name}_proj.weight": ("BF16", [16, 8]) for name in ("gate", "up")},
    "model.layers.0.mlp.down_proj.weight": ("BF16", [8, 16]),
    **{f"model.{name}.weight": ("BF16", [8]) for name in ("layers.0.norm", "layers.0.post_norm", "norm")},
}
COUNTED = 100 * 8 + 4 * 8 * 8 + 3 * 16 * 8 + 3 * 8
