"""Files of weights with bytes changed, cut, doubled or swapped: each is counted or refused in one message."""

from __future__ import annotations

import json
import random
import signal
import struct
from typing import TYPE_CHECKING, Any

import pytest
from support import gguf_files, safetensors_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Run, Write

CASES = 150  # of each kind, with seeds of their own
ODD: tuple[Any, ...] = (
    *(-1, 0, 1, 1.5, 2**31, 2**63, 2**64, 10**310, True, None),
    *("", "4", "²", [], [0], {}, [[4]], "9" * 5000),
)


@pytest.fixture
def guard() -> Iterator[None]:
    """No case may hang."""

    def stop(*_: object) -> None:
        raise TimeoutError("a case hangs")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(30)
    yield
    signal.alarm(0)


def answered(run: Run, name: str) -> None:
    for question in ("params", "memory", "show"):
        answer = run(question, name)
        assert answer.code in (0, 2)
        assert answer.err.count("error:") == (answer.code == 2)


GGUF = gguf_files.file({**gguf_files.FACTS, "tokenizer.ggml.tokens": ["a", "b"]}, gguf_files.TENSORS)
HEAD = GGUF.index(bytes(64))  # where names and numbers end


@pytest.mark.wide(5)
@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize("seed", range(0, CASES, 10))
def test_a_gguf_file_with_its_bytes_changed(run: Run, write: Write, seed: int) -> None:
    for one in range(seed, seed + 10):
        drawn, raw = random.Random(one), bytearray(GGUF)
        for _ in range(drawn.choice((1, 1, 2, 5))):
            place = drawn.randrange(4, HEAD)
            raw[place] = drawn.choice((0, 1, 255, raw[place] ^ 1 << drawn.randrange(8)))
        answered(run, write(bytes(raw[: drawn.choice((len(raw), len(raw), place))]), "model.gguf"))


@pytest.mark.wide(4)
@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize("value", [value for value in ODD if isinstance(value, str | float) or value in (0, 1)])
@pytest.mark.parametrize("facts", [gguf_files.FACTS, gguf_files.LATENT], ids=["llama", "deepseek2"])
def test_a_gguf_file_with_its_facts_changed(run: Run, write: Write, facts: dict[str, Any], value: Any) -> None:
    for name in (*facts, "general.alignment", "split.count"):
        answered(run, write(gguf_files.file({**facts, name: value}, gguf_files.TENSORS), "model.gguf"))


@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize("value", ODD, ids=lambda value: str(value)[:8])
def test_a_safetensors_file_with_its_entries_changed(run: Run, write: Write, value: Any) -> None:
    entry = {"dtype": "BF16", "shape": [8], "data_offsets": [0, 16]}
    for key in entry:
        changed = safetensors_files.file(safetensors_files.WEIGHTS, {"model.norm.weight": {**entry, key: value}})
        answered(run, write(changed, "model.safetensors"))
    for name in ("²", "1.²", f"a.{'9' * 5000}.b", "", ".", "a..b", "a\nb"):
        answered(run, write(safetensors_files.file({name: ("F32", [2]), "x.y": ("F32", [0])}), "model.safetensors"))


@pytest.mark.wide(5)
@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize("seed", range(0, CASES, 10))
def test_a_safetensors_file_with_its_bytes_changed(run: Run, write: Write, seed: int) -> None:
    whole = safetensors_files.file(safetensors_files.WEIGHTS)
    head = 8 + int.from_bytes(whole[:8], "little")
    for one in range(seed, seed + 10):
        drawn, raw = random.Random(one), bytearray(whole)
        for _ in range(drawn.choice((1, 2, 5))):
            raw[drawn.randrange(head)] = drawn.choice(b'0123456789"[]{},: abc\x00\xff')
        answered(run, write(bytes(raw[: drawn.choice((len(raw), drawn.randrange(len(raw))))]), "model.safetensors"))


@pytest.mark.usefixtures("guard")
def test_a_small_file_that_claims_a_billion_words_is_refused_at_once(run: Run, tmp_path: Path) -> None:
    """Eight bytes each, all of them there, none of them on the disk."""
    lists = gguf_files.text("tokens") + struct.pack("<IIQ", 9, 8, 10**9)
    name = tmp_path / "model.gguf"
    with name.open("wb") as stream:
        stream.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + lists)
        stream.truncate(9 * 10**9)
    answer = run("params", str(name))
    assert (answer.code, "claim 1,000,000,000 words" in answer.err) == (2, True)


def overlapping() -> bytes:
    """The second tensor's place is put back by four bytes."""
    whole = gguf_files.file({}, {"a.weight": (0, [16]), "b.weight": (0, [16])})
    second = gguf_files.text("b.weight") + struct.pack("<IQI", 1, 16, 0)
    return whole.replace(second + struct.pack("<Q", 64), second + struct.pack("<Q", 60))


def twice() -> bytes:
    return gguf_files.file({}, {"a.weight": (0, [16]), "b.weight": (0, [16])}).replace(b"b.weight", b"a.weight")


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        (overlapping(), "b.weight begins within a.weight"),
        (twice(), "a.weight stands in its header twice"),
        (gguf_files.file({"general.alignment": 24}, {"a": (0, [16])}), "general.alignment is not a power of two"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "this GGUF file is big-endian"),
        (gguf_files.file(gguf_files.FACTS, {}), "there are no weights to count: the file lists no tensors"),
        (gguf_files.file({}, {"a.b": (0, [0, 4])}), "its tensors are all empty"),
    ],
)
def test_what_no_gguf_file_may_hold_is_refused(run: Run, write: Write, raw: bytes, fact: str) -> None:
    answer = run("memory", write(raw, "model.gguf"))
    assert (answer.code, fact in answer.err) == (2, True)


def test_a_tensor_in_two_shards_is_refused(run: Run, write: Write) -> None:
    for shard in ("1", "2"):
        write(safetensors_files.file({"a": ("F32", [4]), shard: ("F32", [4])}), f"{shard}.safetensors")
    listed = {"a": "1.safetensors", "1": "1.safetensors", "2": "2.safetensors"}
    answer = run("params", write(json.dumps({"weight_map": listed}), "model.safetensors.index.json"))
    assert (answer.code, "a lies in 2.safetensors and in another shard" in answer.err) == (2, True)


def test_tensors_of_the_model_itself_have_a_line(run: Run, write: Write) -> None:
    """So that the lines add up to the total, in both tables."""
    write(safetensors_files.file({"cls_token": ("F32", [3, 8]), "head.weight": ("F32", [8])}), "model.safetensors")
    assert "cls_token" in run("params", "model.safetensors").out
    rows = run("memory", "model.safetensors", "--format", "json").json["rows"]
    assert [(row["path"], row["weights"]) for row in rows] == [("model", 128), ("cls_token", 96), ("head", 32)]
