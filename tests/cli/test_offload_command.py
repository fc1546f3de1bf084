"""Offload on the command line: as llama.cpp writes it, in JSON, and in what `fit` decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Run

SMALL = ("--mode", "decode", "--context", "64")
EXPERTS = 48 * 128 * 3 * 2048 * 768 * 2  # of Qwen3-30B-A3B, in bytes
TOKENS = 64 + 1
BUFFER = TOKENS * (256 * 2 + 2 * 2048 * 4)  # llama.cpp's on the host: a mask of a page of positions, two tensors
IN_HOST = EXPERTS + 151_936 * 2048 * 2 + BUFFER


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("-ngl 20", "--ngl 20"),
        ("--n-gpu-layers 20", "--ngl 20"),
        ("--gpu-layers=20", "--ngl 20"),
        ("-cmoe", "--offload experts"),
        ("--cpu-moe", "--offload moe"),
        ("-ncmoe 3", "--n-cpu-moe 3"),
        ("--offload embedding,experts", "--offload experts,embeddings"),
    ],
)
def test_options_are_taken_as_other_tools_write_them(run: Run, written: str, ours: str) -> None:
    expected = run("memory", "qwen3-30b-a3b", *SMALL, *ours.split())
    assert expected.code == 0
    assert run("memory", "qwen3-30b-a3b", *SMALL, *written.split()).out == expected.out


def record(run: Run, *arguments: str) -> dict[str, Any]:
    answer = run(*arguments, "--format", "json")
    assert answer.code == 0, answer.err
    found: dict[str, Any] = answer.json
    return found


def test_programs_read_host_ram_and_what_crosses_the_bus(run: Run) -> None:
    found = record(run, "memory", "qwen3-30b-a3b", *SMALL, "--cpu-moe")
    assert found["host_bytes"] == EXPERTS
    assert found["host_parts"] == {"weights": EXPERTS}
    assert found["transferred"]["to_gpu_bytes"] == 48 * 2048 * 2


def test_without_offload_nothing_is_said_of_host_ram(run: Run) -> None:
    found = record(run, "memory", "gpt2")
    assert not {"host_bytes", "host_parts", "transferred"} & set(found)
    assert "host" not in run("fit", "gpt2", "--gpu", "8GB").out


@pytest.mark.parametrize(("host", "fits"), [("32GB", False), ("64GB", True), (str(IN_HOST), True)])
def test_with_host_ram_given_both_must_fit(run: Run, host: str, fits: bool) -> None:
    """On a device llama.cpp runs, which keeps the input table in host RAM too."""
    found = record(run, "fit", "qwen3-30b-a3b", *SMALL, "--cpu-moe", "--gpu", "24GB", "--host", host)
    (row,) = found["rows"]
    assert row["fits"] == fits
    assert row["host_bytes"] == IN_HOST
    assert row["required_bytes"] <= row["capacity_bytes"]


def test_what_is_short_is_told(run: Run) -> None:
    """64GB of RAM are 64 GiB, as on the modules that are sold."""
    asked = ("fit", "qwen3-30b-a3b", *SMALL, "--cpu-moe", "--gpu", "24GB", "--host", "32GB")
    told = " ".join(run(*asked).out.split())
    assert f"{IN_HOST / 2**30 - 32:.2f} GiB of host RAM are missing" in told
    assert "no single change" not in told


def test_host_ram_without_offload_is_refused(run: Run) -> None:
    answer = run("fit", "gpt2", "--host", "64GB")
    assert answer.code == 2
    assert "nothing is offloaded" in answer.err


def test_layers_over_two_cards_leave_the_input_table_in_host_memory(run: Run) -> None:
    """llama.cpp's own habit; the second card holds no table to leave there."""
    answer = run("fit", "llama-3-8b", "--engine", "llama.cpp", "--weights", "q4_k_m", "--gpu", "2x3090")
    assert answer.code == 0 and "fits 2xrtx-3090" in answer.out


def test_nothing_is_offered_where_host_memory_is_what_is_missing(run: Run) -> None:
    asked = ("--mode", "train", "--offload", "params", "--gpu", "4090", "--host", "16GB", "--format", "json")
    report = run("fit", "llama-3-8b", *asked).json
    assert report["rows"][0]["verdict"] == "does not fit" and report["remedies"] == []
