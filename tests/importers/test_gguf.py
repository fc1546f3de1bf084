"""A GGUF file is read by its header: a spec where the architecture is known, its tensors where it is not."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

from archcalc.importers import gguf

if TYPE_CHECKING:
    from conftest import Run, Write

Tensor = tuple[int, list[int]]  # GGML type, shape as PyTorch has it


def text(word: str) -> bytes:
    return struct.pack("<Q", len(word)) + word.encode()


def fact(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", 6, value)
    if isinstance(value, list):
        return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
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
    blocks = {0: (1, 4), 8: (32, 34), 12: (256, 144), 14: (256, 210)}
    return elements // blocks[kind][0] * blocks[kind][1]


Q8_0, Q4_K, Q6_K, F32 = 8, 12, 14, 0
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
ATTENTION, FFN = 2 * 256 * 256 + 2 * 128 * 256, 3 * 512 * 256
TOTAL = 1024 * 256 + 2 * (ATTENTION + FFN + 2 * 256) + 256


def test_a_known_architecture_is_a_spec(run: Run, write: Write) -> None:
    """Its head is tied where the file has no output matrix."""
    shown = run("show", write(file(FACTS, TENSORS), "model.gguf")).out
    for line in ("vocab: 1024", "kv_heads: 2", "decoder: 2", "head: tied"):
        assert line in shown
    assert run("params", "model.gguf", "--format", "json").json["total"] == TOTAL


def test_each_format_is_told_with_its_true_bytes(run: Run, write: Write) -> None:
    """Q4_K takes 144 bytes for 256 weights, Q6_K 210, and norms stay in fp32."""
    small = 2 * (2 * 256 * 256 + 128 * 256 + 2 * 512 * 256)
    large = 1024 * 256 + 2 * (128 * 256 + 512 * 256)
    out = " ".join(run("params", write(file(FACTS, TENSORS), "model.gguf")).out.split())
    assert f"{small:,} numbers as Q4_K in {small // 256 * 144:,} bytes" in out
    assert f"{large:,} numbers as Q6_K in {large // 256 * 210:,} bytes" in out
    assert f"{5 * 256:,} numbers as fp32 in {5 * 256 * 4:,} bytes" in out


def test_memory_takes_the_bytes_of_the_tensors(run: Run, write: Write) -> None:
    """Whatever the mixture: one layer's values in Q6_K, the other's in Q4_K; the cache is llama.cpp's fp16."""
    mixed = {**TENSORS, "blk.1.attn_v.weight": (Q4_K, [128, 256])}
    answer = run("memory", write(file(FACTS, mixed), "model.gguf"), "--seq", "64", "--format", "json").json
    assert answer["parts"]["weights"] == sum(size(*tensor) for tensor in mixed.values())
    assert answer["parts"]["kv_cache"] == 2 * 2 * 64 * 2 * 64 * 2
    values = next(row for row in answer["rows"] if row["path"].endswith("attention.v"))
    assert values["weights"] == 128 * 256 // 256 * (210 + 144)
    assert any(words.startswith("weights: Q4_K, Q6_K and fp32, from the file") for words in answer["assumptions"])


def test_memory_takes_another_format_where_it_is_asked_for(run: Run, write: Write) -> None:
    answer = run("memory", write(file(FACTS, TENSORS), "model.gguf"), "--weights", "bf16", "--format", "json").json
    assert answer["parts"]["weights"] == 2 * TOTAL


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


@pytest.mark.parametrize("twice", [False, True])
def test_latent_attention_is_a_spec_even_where_its_projections_are_kept_twice(
    run: Run, write: Write, twice: bool
) -> None:
    """ik_llama.cpp keeps what lifts the latent vector at once and, beside it, in parts: bytes, but no parameters."""
    attention = LATENT_ATTENTION | (TWICE if twice else {})
    dense = {name: BLOCK[name] for name in ("ffn_gate.weight", "ffn_up.weight", "ffn_down.weight")}
    blocks = {0: attention | dense, 1: attention | MIXTURE}
    ends = {name: tensor for name, tensor in TENSORS.items() if not name.startswith("blk.")}
    tensors = ends | {f"blk.{n}.{name}": tensor for n, block in blocks.items() for name, tensor in block.items()}
    answer = run("memory", write(file(LATENT, tensors), "model.gguf"), "--seq", "64", "--format", "json").json
    assert answer["parts"]["kv_cache"] == 2 * 64 * (32 + 16) * 2
    steering = 8 * 4 - 8 * 2  # counted in fp16, as activations are
    assert answer["parts"]["weights"] == sum(size(*tensor) for tensor in tensors.values()) - steering


def test_a_split_file_is_read_with_its_neighbours(run: Run, write: Write) -> None:
    """The first part says what the model is; whichever is named, all are counted, and a missing one is an error."""
    names = list(TENSORS)
    parts = [names[:5], names[5:12], names[12:]]
    for number, part in enumerate(parts, 1):
        facts = {**(FACTS if number == 1 else {}), "split.count": 3, "split.no": number - 1}
        if number < 3:
            write(file(facts, {name: TENSORS[name] for name in part}), f"model-{number:05}-of-00003.gguf")
    answer = run("params", "model-00002-of-00003.gguf")
    assert (answer.code, "model-00003-of-00003.gguf is missing" in answer.err) == (2, True)
    write(file({"split.count": 3}, {name: TENSORS[name] for name in parts[2]}), "model-00003-of-00003.gguf")
    for number in (1, 3):
        answer = run("memory", f"model-0000{number}-of-00003.gguf", "--format", "json").json
        assert answer["parts"]["weights"] == sum(size(*tensor) for tensor in TENSORS.values())
        assert answer["parts"]["kv_cache"]


def test_an_unknown_architecture_is_its_tensors(run: Run, write: Write) -> None:
    facts = {**FACTS, "general.architecture": "sphinx"}
    answer = run("params", write(file(facts, TENSORS), "model.gguf"), "--format", "json").json
    assert answer["total"] == TOTAL
    assert answer["bytes"] == sum(size(*tensor) for tensor in TENSORS.values())
    assert any("sphinx" in note for note in answer["assumptions"])


def test_facts_that_do_not_fit_the_tensors_are_not_believed(run: Run, write: Write) -> None:
    """One tensor more than a Llama has: the tensors are the answer."""
    more = {**TENSORS, "blk.0.attn_q_norm.weight": (F32, [64])}
    answer = run("params", write(file(FACTS, more), "model.gguf"), "--format", "json").json
    assert answer["total"] == TOTAL + 64
    assert any("not read as a spec" in note for note in answer["assumptions"])


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        (b"", "it does not begin with GGUF"),
        (file(FACTS, TENSORS, version=1), "GGUF version 1 is not read"),
        (file(FACTS, TENSORS, cut=400_000), "the file at"),
        (file(FACTS, TENSORS)[:200], "not a whole GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "it claims"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62), "claims to be"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<IIQ", 9, 8, 2**61), "a list claims"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<I", 77), "unknown type 77"),
        (file({}, {"x": (F32, [4])})[:-40] + bytes(4), "not a whole GGUF file"),
    ],
)
def test_a_broken_file_is_refused(run: Run, write: Write, raw: bytes, fact: str) -> None:
    answer = run("params", write(raw, "model.gguf"))
    assert answer.code == 2
    assert fact in answer.err


def test_rows_that_are_no_whole_blocks_are_refused(run: Run, write: Write) -> None:
    answer = run("params", write(file({}, {"odd.weight": (Q4_K, [256, 255])}), "model.gguf"))
    assert answer.code == 2
    assert "odd.weight has rows of 255" in answer.err


def test_block_sizes_are_whole_bytes_and_named_once() -> None:
    """Bits a weight, as llama.cpp prints them: 4.5 for Q4_K, 6.5625 for Q6_K, 8.5 for Q8_0."""
    kinds = {kind["name"]: 8 * kind["bytes"] / kind["numbers"] for kind in gguf.types().values()}
    assert len(kinds) == len(gguf.types())
    assert (kinds["Q4_K"], kinds["Q6_K"], kinds["Q8_0"], kinds["MXFP4"]) == (4.5, 6.5625, 8.5, 4.25)
