"""archcalc fit --table and --models: the tables that people ask for."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run


def test_every_cell_is_what_fit_says(run: Run) -> None:
    """Of the same device, in that format, with that context."""
    gpu = ("--gpu", "rtx-3060")
    rows = run("fit", "llama-3-8b", "--table", "weights,context", *gpu, "--format", "json").json["rows"]
    assert {row["verdict"] for row in rows} >= {"fits", "does not fit"}
    for row in rows[:: len(rows) // 5]:
        asked = ("--weights", row["weights"], "--seq", str(row["context"]))
        (alone,) = run("fit", "llama-3-8b", *gpu, *asked, "--format", "json").json["rows"]
        keys = ("required_bytes", "left_bytes", "verdict")
        assert [row[key] for key in keys] == [alone[key] for key in keys]


def test_the_longest_context_of_each_format(run: Run) -> None:
    """As the column `context` of a question about that format alone."""
    record = run("fit", "llama-3-8b", "--table", "weights,context", "--gpu", "rtx-3060", "--format", "json").json
    found = {row["weights"]: row["max_seq"] for row in record["longest"]}
    (row,) = run("fit", "llama-3-8b", "--weights", "q6_k", "--gpu", "rtx-3060", "--format", "json").json["rows"]
    assert found["q6_k"] == row["max_seq"] and found["bf16"] == 0


@pytest.mark.parametrize("axes", ["context,weights", "kv-dtype,batch", "batch,context"])
def test_any_two_axes(run: Run, axes: str) -> None:
    answer = run("fit", "llama-3-8b", "--table", axes, "--gpu", "24GiB")
    assert " fit" in answer.out.split("\n\n")[0] and "✓" in answer.out


def test_a_narrower_cache_is_smaller_by_its_bits(run: Run) -> None:
    """Llama 3 8B keeps 2 × 32 × 8 × 128 values a token: 2 bytes each as it is, then 34 and 18 bytes for 32 of them."""
    asked = ("--table", "kv-dtype,batch", "--gpu", "24GiB", "--seq", "1024", "--format", "json")
    rows = run("fit", "llama-3-8b", *asked).json["rows"]
    found = {row["kv_dtype"]: row["required_bytes"] for row in rows if row["batch"] == 4}
    assert list(found) == ["bf16", "q8_0", "q4_0"]
    blocks = 4 * 1024 * 2 * 32 * 8 * 128 // 32
    assert [found["bf16"] - needed for needed in found.values()] == [0, blocks * (64 - 34), blocks * (64 - 18)]


def test_csv_has_a_line_for_each_cell(run: Run) -> None:
    text = run("fit", "gpt2", "--table", "weights,batch", "--gpu", "1GiB", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    keys = ["weights", "batch", "required_bytes", "left_bytes", "verdict", "engine", "why", "command"]
    assert list(rows[0]) == keys
    assert len(rows) == len({(row["weights"], row["batch"]) for row in rows})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--table", "weights,context"], "one device"),
        (["--table", "weights,contexts", "--gpu", "t4"], "did you mean context"),
        (["--table", "weights", "--gpu", "t4"], "two different axes"),
        (["--table", "weights,context", "--gpu", "t4", "--mode", "train"], "about inference"),
        (["--models"], "one device"),
        (["--models", "--gpu", "t4", "--check"], "has no effect with a table"),
    ],
)
def test_mistakes_are_told(run: Run, arguments: list[str], told: str) -> None:
    answer = run("fit", "gpt2", *arguments)
    assert answer.code == 2 and told in answer.err


def test_models_that_run_on_a_device(run: Run) -> None:
    """The widest format that fits with the context asked for, the largest model first; each as fit says of it."""
    record = run("fit", "llama-", "--models", "--gpu", "rtx-3090", "--seq", "4096", "--format", "json").json
    rows = record["rows"]
    assert [row["parameters"] for row in rows] == sorted((row["parameters"] for row in rows), reverse=True)
    assert "llama-3.1-405b" in record["too_large"]
    row = next(row for row in rows if row["model"] == "llama-2-13b")
    asked = ("llama-2-13b", "--gpu", "rtx-3090", "--seq", "4096", "--format", "json")
    (alone,) = run("fit", *asked, "--weights", row["weights"], "--precision", "bf16").json["rows"]
    assert (alone["verdict"], alone["required_bytes"]) == ("fits", row["required_bytes"])
    assert alone["max_seq"] == row["max_seq"]
    assert run("fit", *asked).json["rows"][0]["verdict"] != "fits"  # in 16 bits


@pytest.mark.parametrize(("model", "gpu"), [("mixtral-8x7b", "rtx-4090"), ("llama-3-70b", "2xrtx-3090")])
def test_no_model_is_left_out_that_fits_in_a_narrower_format(run: Run, model: str, gpu: str) -> None:
    """Whatever engine the wide format brings, and however much that needs beside the weights."""
    record = run("fit", model, "--models", "--gpu", gpu, "--format", "json").json
    row = next(row for row in record["rows"] if row["model"] == model)
    asked = ("--gpu", gpu, "--seq", str(record["seq"]), "--weights", row["weights"], "--format", "json")
    (alone,) = run("fit", model, *asked).json["rows"]
    assert alone["verdict"] == "fits"
    assert row["parameters"] == run("params", model, "--format", "json").json["total"]


def test_a_part_of_a_model_is_not_said_to_run(run: Run) -> None:
    """EXAONE 4.5's vision tower is not counted; EXAONE 4.0 has none."""
    asked = ("fit", "exaone-", "--models", "--gpu", "h100", "--seq", "4096")
    lines = {line.split()[0]: line.split()[-1] for line in run(*asked).out.splitlines() if line.startswith("exaone-")}
    assert (lines["exaone-4.5-33b"], lines["exaone-4.0-32b"]) == ("?", "yes")
    rows = {row["model"]: row["not_counted"] for row in run(*asked, "--format", "json").json["rows"]}
    assert "vision encoder" in rows["exaone-4.5-33b"] and rows["exaone-4.0-32b"] == ""


@pytest.mark.wide
def test_only_language_models_are_listed(run: Run) -> None:
    rows = run("fit", "e", "--models", "--gpu", "4GiB", "--seq", "512", "--format", "json").json["rows"]
    names = {row["model"] for row in rows}
    assert "qwen3-0.6b" in names and not names & {"bert-base", "vit-b-16", "resnet-50"}


def test_a_name_that_no_preset_has(run: Run) -> None:
    answer = run("fit", "no-such-thing", "--models", "--gpu", "t4")
    assert answer.code == 2 and "no preset's name has no-such-thing" in answer.err
