"""GGUF: facts and tensors of small models, mutated before and after they are written."""

from __future__ import annotations

import struct
from typing import Any

from fuzz import bytewise, treewise
from fuzz.case import Case
from fuzz.kinds.shared import examine

F32, F16, Q8_0, Q4_K, Q6_K = 0, 1, 8, 12, 14
BYTES = {F32: (1, 4), F16: (1, 2), Q8_0: (32, 34), Q4_K: (256, 144), Q6_K: (256, 210)}  # numbers, bytes of a block
ARCHITECTURES = (
    "llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3", "starcoder2", "stablelm", "olmo2", "qwen3moe",
    "gpt-oss", "deepseek2", "falcon", "mamba", "granite", "clip", "unheard-of", "",
)  # fmt: skip
FACTS: dict[str, Any] = {
    "embedding_length": 256,
    "block_count": 2,
    "feed_forward_length": 512,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "attention.key_length": 64,
    "attention.value_length": 64,
    "attention.layer_norm_rms_epsilon": 1e-6,
    "attention.sliding_window": 64,
    "context_length": 128,
    "rope.freq_base": 5000.0,
    "expert_count": 4,
    "expert_used_count": 2,
}
BLOCK: dict[str, list[Any]] = {
    "attn_q.weight": [Q4_K, [256, 256]],
    "attn_k.weight": [Q4_K, [128, 256]],
    "attn_v.weight": [Q6_K, [128, 256]],
    "attn_output.weight": [Q4_K, [256, 256]],
    "ffn_gate.weight": [Q8_0, [512, 256]],
    "ffn_up.weight": [Q4_K, [512, 256]],
    "ffn_down.weight": [Q6_K, [256, 512]],
    "attn_norm.weight": [F32, [256]],
    "ffn_norm.weight": [F32, [256]],
}
LEFT_OUT = 0.3  # how often a fact that not every model has is not there


def run(case: Case) -> None:
    name = case.write(case.random.choice(("model.gguf", "model.gguf", "model")), contents(case))
    if case.chance(0.005):
        (case.folder / name).open("r+b").truncate(3 << 30)
    examine(case, name)


def contents(case: Case) -> bytes:
    facts, tensors = _drawn(case)
    if case.chance(0.6):
        mutated = treewise.mutated([facts, tensors], case.random, gently=case.chance(0.4))
        facts, tensors = (*mutated, {}, {})[:2]  # one of the two may be gone
    whole = file(case, facts, tensors)
    return bytewise.mutated(whole, case.random) if case.chance(0.4) else whole


def _drawn(case: Case) -> tuple[Any, Any]:
    name = case.random.choice(("llama", *ARCHITECTURES))
    facts = {"general.architecture": name, "general.alignment": case.random.choice((32, 32, 32, 1, 0, 7, 2**31))}
    facts |= {f"{name}.{fact}": value for fact, value in FACTS.items() if not fact.startswith("expert")}
    if case.chance(LEFT_OUT):
        facts |= {f"{name}.{fact}": value for fact, value in FACTS.items() if fact.startswith("expert")}
    facts["tokenizer.ggml.tokens"] = [f"word {n}" for n in range(64)]
    tensors: dict[str, Any] = {"token_embd.weight": [Q6_K, [64, 256]], "output_norm.weight": [F32, [256]]}
    tensors |= {f"blk.{layer}.{part}": list(kept) for layer in range(2) for part, kept in BLOCK.items()}
    return facts, tensors


def file(case: Case, facts: Any, tensors: Any) -> bytes:
    """As llama.cpp lays it out, as far as what it is given can be."""
    facts = facts if isinstance(facts, dict) else {"": facts}
    tensors = tensors if isinstance(tensors, dict) else {"": tensors}
    head, end = b"", 0
    for name, kept in tensors.items():
        kind, shape = _kind_and_shape(kept)
        head += _text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", side % 2**64) for side in reversed(shape)) + struct.pack("<IQ", kind, end)
        end += -(-_size(kind, shape) // 32) * 32
    written = b"".join(_text(name) + _fact(value) for name, value in facts.items())
    counts = struct.pack("<IQQ", case.random.choice((3, 3, 3, 2, 1, 4)), len(tensors), len(facts))
    head = b"GGUF" + counts + written + head
    return head + bytes(-len(head) % 32 + min(end, 1 << 20))


def _kind_and_shape(kept: Any) -> tuple[int, list[int]]:
    kind = kept[0] if isinstance(kept, list) and kept and isinstance(kept[0], int) else 0
    shape = kept[1] if isinstance(kept, list) and len(kept) > 1 and isinstance(kept[1], list) else [kept]
    return kind % 2**32, [side for side in shape if isinstance(side, int)]


def _size(kind: int, shape: list[int]) -> int:
    numbers, taken = BYTES.get(kind, (1, 1))
    elements = 1
    for side in shape:
        elements *= abs(side)
    return elements // numbers * taken % 2**63


def _text(word: Any) -> bytes:
    raw = str(word).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(raw)) + raw


def _fact(value: Any) -> bytes:
    """Its type and itself."""
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value) if 0 <= value < 2**32 else struct.pack("<IQ", 10, value % 2**64)
    if isinstance(value, float):
        return struct.pack("<Id", 12, value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    if isinstance(value, list):
        numbers = [item for item in value if isinstance(item, int)]
        return struct.pack("<IIQ", 9, 10, len(numbers)) + b"".join(struct.pack("<Q", n % 2**64) for n in numbers)
    return struct.pack("<I", 8) + _text(value)
