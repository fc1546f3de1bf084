"""Small GGUF files, for tests of whatever reads them."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Tensor = tuple[int, list[int]]  # GGML type, shape as PyTorch has it


@dataclass(frozen=True)
class Recorded:
    """What llama.cpp's convert_hf_to_gguf.py made of a small model that transformers built from a config."""

    name: str
    config: dict[str, Any]
    facts: dict[str, Any]
    tensors: dict[str, Tensor]

    @property
    def raw(self) -> bytes:
        return file(self.facts, self.tensors)

    @property
    def bytes(self) -> int:
        return sum(size(*tensor) for tensor in self.tensors.values())


def recorded() -> dict[str, Recorded]:
    """The headers in `data/gguf_headers.jsonl`, with matrices in fp16 and the rest in fp32."""
    lines = (Path(__file__).parents[1] / "data" / "gguf_headers.jsonl").read_text().splitlines()
    return {one.name: one for one in map(_recorded, map(json.loads, lines))}


def _recorded(said: dict[str, Any]) -> Recorded:
    facts = {"general.architecture": said["architecture"], **said["facts"]}
    return Recorded(said["name"], said["config"], facts, _unfolded(said["tensors"]))


def _unfolded(shapes: dict[str, list[int]]) -> dict[str, Tensor]:
    """`blk.{0,2}.attn_q.weight` stands for two tensors."""
    found: dict[str, Tensor] = {}
    for name, shape in shapes.items():
        match = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
        names = [f"{match[1]}{layer}{match[3]}" for layer in match[2].split(",")] if match else [name]
        found |= {one: (F16 if len(shape) > 1 else F32, shape) for one in names}
    return found


def text(word: str) -> bytes:
    return struct.pack("<Q", len(word)) + word.encode()


def fact(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", 6, value)
    if isinstance(value, bool):
        return text(name) + struct.pack("<I?", 7, value)
    if isinstance(value, list) and isinstance(value[0], str):
        return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if isinstance(value, list):
        code, kind = {bool: ("?", 7), int: ("i", 5), float: ("f", 6)}[type(value[0])]
        return text(name) + struct.pack(f"<IIQ{len(value)}{code}", 9, kind, len(value), *value)
    return text(name) + struct.pack("<II", 4, value)


def file(facts: dict[str, Any], tensors: dict[str, Tensor], *, cut: int = 0, version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(facts))
    head += b"".join(fact(name, value) for name, value in facts.items())
    end = 0
    for name, (kind, shape) in tensors.items():
        head += (
            text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", side) for side in reversed(shape))
        )
        head += struct.pack("<IQ", kind, end)
        end += -(-size(kind, shape) // 32) * 32
    whole = head + bytes(-len(head) % 32 + end)
    return whole[: len(whole) - cut]


def size(kind: int, shape: list[int]) -> int:
    elements = 1
    for side in shape:
        elements *= side
    blocks = {0: (1, 4), 1: (1, 2), 8: (32, 34), 12: (256, 144), 14: (256, 210)}
    return elements // blocks[kind][0] * blocks[kind][1]


Q8_0, Q4_K, Q6_K, F32, F16 = 8, 12, 14, 0, 1
FACTS = {
    "general.architecture": "llama",
    "llama.embedding_length": 256,
    "llama.block_count": 2,
    "llama.feed_forward_length": 512,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.context_length": 128,
    "llama.rope.freq_base": 5000.0,
    "tokenizer.ggml.tokens": [f"word {n}" for n in range(1024)],
}
BLOCK: dict[str, Tensor] = {
    "attn_q.weight": (Q4_K, [256, 256]),
    "attn_k.weight": (Q4_K, [128, 256]),
    "attn_v.weight": (Q6_K, [128, 256]),
    "attn_output.weight": (Q4_K, [256, 256]),
    "ffn_gate.weight": (Q4_K, [512, 256]),
    "ffn_up.weight": (Q4_K, [512, 256]),
    "ffn_down.weight": (Q6_K, [256, 512]),
    "attn_norm.weight": (F32, [256]),
    "ffn_norm.weight": (F32, [256]),
}
TENSORS: dict[str, Tensor] = {
    "token_embd.weight": (Q6_K, [1024, 256]),
    **{f"blk.{n}.{name}": tensor for n in range(2) for name, tensor in BLOCK.items()},
    "output_norm.weight": (F32, [256]),
}
LATENT = {
    "general.architecture": "deepseek2",
    "deepseek2.embedding_length": 256,
    "deepseek2.block_count": 2,
    "deepseek2.feed_forward_length": 512,
    "deepseek2.attention.head_count": 4,
    "deepseek2.attention.head_count_kv": 4,
    "deepseek2.context_length": 128,
    "deepseek2.attention.q_lora_rank": 64,
    "deepseek2.attention.kv_lora_rank": 32,
    "deepseek2.attention.key_length": 32 + 16,
    "deepseek2.attention.value_length": 32,
    "deepseek2.rope.dimension_count": 16,
    "deepseek2.leading_dense_block_count": 1,
    "deepseek2.expert_count": 8,
    "deepseek2.expert_used_count": 2,
    "deepseek2.expert_shared_count": 1,
    "deepseek2.expert_feed_forward_length": 128,
}
LATENT_ATTENTION: dict[str, Tensor] = {
    "attn_q_a.weight": (Q8_0, [64, 256]),
    "attn_q_a_norm.weight": (F32, [64]),
    "attn_q_b.weight": (Q8_0, [4 * 48, 64]),
    "attn_kv_a_mqa.weight": (Q8_0, [32 + 16, 256]),
    "attn_kv_a_norm.weight": (F32, [32]),
    "attn_kv_b.weight": (Q8_0, [4 * 64, 32]),
    "attn_output.weight": (Q8_0, [256, 4 * 32]),
    "attn_norm.weight": (F32, [256]),
    "ffn_norm.weight": (F32, [256]),
}
TWICE: dict[str, Tensor] = {"attn_k_b.weight": (Q8_0, [4 * 32, 32]), "attn_v_b.weight": (Q8_0, [4 * 32, 32])}
MIXTURE: dict[str, Tensor] = {
    "ffn_gate_inp.weight": (F32, [8, 256]),
    "exp_probs_b.bias": (F32, [8]),
    **{f"ffn_{name}_exps.weight": (Q8_0, [8, 128, 256]) for name in ("gate", "up")},
    "ffn_down_exps.weight": (Q8_0, [8, 256, 128]),
    **{f"ffn_{name}_shexp.weight": (Q8_0, [128, 256]) for name in ("gate", "up")},
    "ffn_down_shexp.weight": (Q8_0, [256, 128]),
}
