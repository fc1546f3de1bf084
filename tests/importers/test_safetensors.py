"""A safetensors file is counted by its header alone, and a header that lies is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.safetensors_files import CONFIG, COUNTED, WEIGHTS, Tensors, file

if TYPE_CHECKING:
    from conftest import Run, Write

LAYER: Tensors = {"up.weight": ("BF16", [16, 8]), "down.weight": ("BF16", [8, 16])}
MODEL: Tensors = {
    "embed.weight": ("BF16", [100, 8]),
    **{f"layers.{n}.{name}": tensor for n in range(12) for name, tensor in LAYER.items()},
    "norm.weight": ("F32", [8]),
}
TOTAL = 100 * 8 + 12 * 2 * 16 * 8 + 8
BYTES = 2 * (100 * 8 + 12 * 2 * 16 * 8) + 4 * 8


def test_parameters_and_bytes_are_those_of_the_header(run: Run, write: Write) -> None:
    """Each format by its own width; whatever the file is called."""
    for name in ("model.safetensors", "weights.bin"):
        found = run("params", write(file(MODEL), name), "--format", "json").json
        assert (found["total"], found["bytes"]) == (TOTAL, BYTES)


def test_the_tree_is_made_of_names_with_equal_layers_folded(run: Run, write: Write) -> None:
    rows = run("params", write(file(MODEL), "model.safetensors"), "--format", "json").json["rows"]
    tensors = {row["path"]: (row["shape"], row["repeat"]) for row in rows if row["kind"] == "tensor"}
    assert tensors == {
        "embed.weight": ([100, 8], 1),
        "layers.0–11.up.weight": ([16, 8], 12),
        "layers.0–11.down.weight": ([8, 16], 12),
        "norm.weight": ([8], 1),
    }


def test_each_format_is_named_with_its_bytes(run: Run, write: Write) -> None:
    out = " ".join(run("params", write(file(MODEL), "model.safetensors")).out.split())
    assert f"{TOTAL - 8:,} numbers as bf16 in {BYTES - 32:,} bytes; 8 numbers as fp32 in 32 bytes" in out


def test_show_prints_tensors_that_count_the_same(run: Run, write: Write) -> None:
    shown = run("show", write(file(MODEL), "model.safetensors")).out
    found = run("params", write(shown), "--format", "json").json
    assert (found["total"], found["bytes"]) == (TOTAL, BYTES)


def test_shards_are_read_by_their_index(run: Run, write: Write) -> None:
    """The folder, or the index itself."""
    first, second = dict(list(MODEL.items())[:5]), dict(list(MODEL.items())[5:])
    write(file(first), "model-1.safetensors")
    write(file(second), "model-2.safetensors")
    listed = {**dict.fromkeys(first, "model-1.safetensors"), **dict.fromkeys(second, "model-2.safetensors")}
    index = write(json.dumps({"metadata": {}, "weight_map": listed}), "model.safetensors.index.json")
    for name in (index, "."):
        assert run("params", name, "--format", "json").json["total"] == TOTAL


@pytest.mark.parametrize(
    ("listed", "fact"),
    [
        ({"embed.weight": "../model.safetensors"}, "which is not beside it"),
        ({"embed.weight": "gone.safetensors"}, "the shard gone.safetensors is missing"),
        ({"other.weight": "model.safetensors"}, "the index lists other.weight, which no shard holds"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(run: Run, write: Write, listed: dict[str, str], fact: str) -> None:
    write(file(MODEL), "model.safetensors")
    answer = run("params", write(json.dumps({"weight_map": listed}), "model.safetensors.index.json"))
    assert answer.code == 2
    assert fact in answer.err


def lying(**entry: Any) -> bytes:
    """The last tensor's entry, changed."""
    usual = {"dtype": "F32", "shape": [8], "data_offsets": [7744, 7776]}
    return file(MODEL, {"norm.weight": {key: value for key, value in {**usual, **entry}.items() if value is not None}})


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        (file(MODEL)[:-1], "its tensors end at byte"),
        (file(MODEL) + b"\0", "its tensors end at byte"),
        (lying(dtype="F99"), "unknown dtype F99"),
        (lying(shape=[9]), "norm.weight takes 32 bytes, but [9] of F32 takes 36"),
        (lying(shape=[-8]), "norm.weight has no shape"),
        (lying(data_offsets=[7743, 7775]), "norm.weight begins at 7,743, where"),
        (lying(data_offsets=[7776, 7744]), "norm.weight ends before it begins"),
        (lying(data_offsets=None), "norm.weight has no data_offsets"),
        (file(MODEL, {"norm.weight": []}), "norm.weight has no data_offsets"),
        ((9).to_bytes(8, "little") + b"{not json", "its header is not JSON"),
        ((2**63).to_bytes(8, "little") + b"{}", f"its header claims to be {2**63:,} bytes long, and the file has 10"),
        (b"", "its header claims to be 0 bytes long"),
    ],
)
def test_a_header_that_lies_is_refused(run: Run, write: Write, raw: bytes, fact: str) -> None:
    answer = run("params", write(raw, "model.safetensors"))
    assert answer.code == 2
    assert fact in answer.err


def test_weights_beside_their_config_are_compared_with_it(run: Run, write: Write) -> None:
    write(json.dumps(CONFIG), "config.json")
    write(file(WEIGHTS), "model.safetensors")
    assert f"model.safetensors holds {COUNTED:,} weights, as the config says" in run("params", ".").out
