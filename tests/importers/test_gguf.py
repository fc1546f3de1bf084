"""A GGUF file is read by its header: a spec where the architecture is known, its tensors where it is not."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from support.assumption_texts import texts
from support.gguf_files import (
    BLOCK,
    F32,
    FACTS,
    LATENT,
    LATENT_ATTENTION,
    MIXTURE,
    Q4_K,
    Q6_K,
    TENSORS,
    TWICE,
    file,
    size,
    text,
)

from archcalc.storage import ggml_types

if TYPE_CHECKING:
    from conftest import Run, Write

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
    assert any(words.startswith("weights: Q4_K, Q6_K and fp32, from the file") for words in texts(answer))


def test_memory_takes_another_format_where_it_is_asked_for(run: Run, write: Write) -> None:
    answer = run("memory", write(file(FACTS, TENSORS), "model.gguf"), "--weights", "bf16", "--format", "json").json
    assert answer["parts"]["weights"] == 2 * TOTAL


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
    assert answer["parts"]["weights"] == sum(size(*tensor) for tensor in tensors.values())


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
    assert any("sphinx" in note for note in texts(answer))


def test_facts_that_do_not_fit_the_tensors_are_not_believed(run: Run, write: Write) -> None:
    """One tensor more than a Llama has: the tensors are the answer."""
    more = {**TENSORS, "blk.0.attn_q_norm.weight": (F32, [64])}
    answer = run("params", write(file(FACTS, more), "model.gguf"), "--format", "json").json
    assert answer["total"] == TOTAL + 64
    said = next(note for note in texts(answer) if "not read as a llama" in note)
    assert "in the file alone: blk.0.attn_q_norm.weight (64 numbers)" in said


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


def test_rows_may_have_a_scale_of_their_own(run: Run, write: Write) -> None:
    """IQ4_KS of ik_llama.cpp: 136 bytes for 256 weights, and 4 for each row (ggml.c's row_meta_size)."""
    header = file({}, {"x.weight": (Q4_K, [8, 512])})
    raw = header.replace(struct.pack("<IQ", Q4_K, 0), struct.pack("<IQ", 144, 0))
    assert run("params", write(raw, "model.gguf"), "--format", "json").json["bytes"] == 8 * (2 * 136 + 4)


def test_an_unknown_format_is_refused_by_its_number(run: Run, write: Write) -> None:
    raw = file({}, {"x.weight": (Q4_K, [8, 512])}).replace(struct.pack("<IQ", Q4_K, 0), struct.pack("<IQ", 4242, 0))
    answer = run("params", write(raw, "model.gguf"))
    assert answer.code == 2
    assert "x.weight is stored as GGML type 4242, which archcalc does not know" in answer.err


def test_block_sizes_are_whole_bytes_and_named_once() -> None:
    """Bits a weight, as llama.cpp prints them: 4.5 for Q4_K, 6.5625 for Q6_K, 8.5 for Q8_0."""
    kinds = {kind["name"]: 8 * kind["bytes"] / kind["numbers"] for kind in ggml_types.types().values()}
    assert len(kinds) == len(ggml_types.types())
    assert (kinds["Q4_K"], kinds["Q6_K"], kinds["Q8_0"], kinds["MXFP4"]) == (4.5, 6.5625, 8.5, 4.25)


def weights(run: Run, *arguments: str) -> int:
    taken: int = run("memory", *arguments, "--format", "json").json["parts"]["weights"]
    return taken


def layered(layers: int, *, tokens: int = 1024, kind: int = Q6_K) -> bytes:
    """The file that llama.cpp would write of the changed model; `kind` is of the token table."""
    facts = {**FACTS, "llama.block_count": layers}
    blocks = {f"blk.{n}.{name}": tensor for n in range(layers) for name, tensor in BLOCK.items()}
    ends = {"token_embd.weight": (kind, [tokens, 256]), "output_norm.weight": (F32, [256])}
    return file(facts, {**ends, **blocks})


@pytest.mark.parametrize(
    ("change", "other"),
    [("decoder=4", layered(4)), ("decoder=1", layered(1)), ("vocab=10240", layered(2, tokens=10240))],
)
def test_a_changed_spec_is_counted_anew(run: Run, write: Write, change: str, other: bytes) -> None:
    """As a file of the changed model would be; and no note calls it the file's."""
    model, changed = write(layered(2), "m.gguf"), write(other, "other.gguf")
    assert weights(run, model, "--set", change) == weights(run, changed)
    said = run("memory", model, "--set", change, "--notes", columns=1000).out
    assert "follow from the spec" in said
    assert "from the file's tensors" not in said
    assert "in the file:" not in said


def test_layers_in_several_formats_keep_their_shares(run: Run, write: Write) -> None:
    """Half of the layers of the file have wider values, and so has half of any other number of them."""
    narrow = {**TENSORS, "blk.1.attn_v.weight": (Q4_K, [128, 256])}
    model = write(file(FACTS, narrow), "m.gguf")
    block = sum(size(*tensor) for tensor in BLOCK.values())
    less = size(Q6_K, [128, 256]) - size(Q4_K, [128, 256])
    assert weights(run, model, "--set", "decoder=8") - weights(run, model) == 6 * block - 3 * less
    assert "in the file's proportions" in run("memory", model, "--set", "decoder=8", columns=1000).out


@pytest.mark.parametrize("changes", [[], ["--set", "decoder=3"], ["--set", "ffn.width=1024"]])
def test_what_show_prints_keeps_the_formats(run: Run, write: Write, changes: list[str]) -> None:
    model = write(file(FACTS, {**TENSORS, "blk.1.attn_v.weight": (Q4_K, [128, 256])}), "m.gguf")
    shown = write(run("show", model, *changes).out, "shown.yaml")
    for more in ([], ["--weights", "q4_k_m"], ["--weights", "bf16"]):
        assert weights(run, shown, *more) == weights(run, model, *changes, *more)


@pytest.mark.parametrize(
    "formats",
    ["{}", "5", "{a: Q4_Z}", "{a: {Q4_K: 0}}", "{a: {Q4_K: true}}", "{a: {Q4_K: -1}}", "{a: []}", "{a: {}}", "[Q4_K]"],
)
def test_formats_that_are_none_are_refused(run: Run, write: Write, formats: str) -> None:
    tiny = "vocab: 10\nd_model: 8\nheads: 2\nffn: 8\ndecoder: 1\n"
    answer = run("memory", write(f"{tiny}quantization: {{quant_method: gguf, formats: {formats}}}\n"))
    assert (answer.code, "model.yaml:6" in answer.err) == (2, True)
