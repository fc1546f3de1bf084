"""The same question has the same run in every command, and the run is the first line of the answer."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from runs import runs

from archcalc.spec.paths import presets

if TYPE_CHECKING:
    from conftest import Run

GOLDEN = Path(__file__).parents[1] / "golden" / "runs.txt"
COMMANDS = ("memory", "flops", "fit")
QUESTIONS = [
    ("textbook", ["--mode", "train"]),
    ("gpt2", ["--mode", "train"]),
    ("t5-small", ["--mode", "train"]),
    ("llama-3-8b", ["--mode", "train", "--lora", "16"]),
    ("llama-3-8b", ["--mode", "train", "--precision", "mixed", "--batch", "4"]),
    ("llama-3-8b", ["--mode", "infer"]),
    ("llama-3-8b", ["--mode", "infer", "--gpu", "h100"]),
    ("llama-3-8b", ["--mode", "train", "--gpu", "rtx-4090"]),
    ("deepseek-v3", ["--mode", "infer", "--tp", "8"]),
    ("deepseek-v3", ["--mode", "decode", "--context", "4096"]),
    ("resnet-50", ["--mode", "train"]),
    ("bert-base", ["--mode", "infer", "--gpu", "gtx-1080-ti"]),
]


@pytest.mark.parametrize(("model", "options"), QUESTIONS, ids=lambda value: str(value))
def test_every_command_resolves_a_question_to_the_same_run(run: Run, model: str, options: list[str]) -> None:
    """Every value, and the reason for it."""
    found = [run(command, model, *options, "--format", "json").json["run"] for command in COMMANDS]
    assert found[0] == found[1] == found[2]
    assert found[0]["choices"]["batch"]["value"] >= 1


@pytest.mark.parametrize("command", COMMANDS)
def test_the_run_is_the_first_line_of_the_answer(run: Run, command: str) -> None:
    """What was asked for stands before what was assumed."""
    given = ["llama-3-8b", "--mode", "train", "--batch", "4", "--recompute", "full"]
    line = run(command, *given, "--format", "json").json["run"]["line"]
    asked, _, assumed = line.partition(" · assumed: ")
    assert asked.startswith("Llama 3 8B · ")
    assert "batch 4" in asked and "activation checkpointing" in asked
    assert "seq 2,048" in assumed and "transformers 5.22" in assumed
    first = run(command, *given).out.split("\n\n")[0]
    assert " ".join(first.split()).startswith(line)


@pytest.mark.parametrize("model", ["textbook", "gpt2", "t5-small"])
def test_memory_and_fit_need_the_same(run: Run, model: str) -> None:
    """On a device as without one."""
    asked = ["--mode", "train", "--format", "json"]
    memory, fit = run("memory", model, *asked).json, run("fit", model, *asked, "--gpu", "rtx-4090").json
    assert memory["required_bytes"] == fit["rows"][0]["required_bytes"]


def test_the_textbook_stores_no_scores(run: Run) -> None:
    """Its attention is PyTorch's, in fp32 the memory-efficient kernel: 32 × 8 × 2,048² scores of 4 bytes a layer are
    not among what is saved, and with eager attention they are."""
    asked = ["textbook", "--mode", "train", "--format", "json"]
    fused, eager = run("memory", *asked).json, run("memory", *asked, "--attention", "eager").json
    assert fused["run"]["choices"]["attention"]["reason"] == "code"
    scores = 4 * 32 * 8 * 2048 * 2048
    assert eager["total_bytes"] - fused["total_bytes"] > 12 * scores


@cache
def _golden() -> list[str]:
    return GOLDEN.read_text("utf-8").splitlines()


@pytest.mark.wide(20)
@pytest.mark.parametrize("name", dict.fromkeys(line.partition(" | ")[0] for line in _golden()))
def test_the_runs_of_a_preset_are_those_of_the_golden_file(name: str) -> None:
    """Review the difference; `python tools/runs.py > tests/golden/runs.txt` writes it anew. A preset that is newer than
    the file has no lines in it."""
    assert list(runs(name)) == [line for line in _golden() if line.startswith(f"{name} | ")]


def test_most_presets_are_in_the_golden_file() -> None:
    named = {line.partition(" | ")[0] for line in _golden()}
    assert named <= set(presets()) and len(named) > len(presets()) / 2


def test_values_from_the_models_files_are_not_assumed(run: Run) -> None:
    """The textbook's spec names batch, lengths and precision."""
    record: dict[str, Any] = run("memory", "textbook", "--format", "json").json["run"]
    assert record["line"].startswith(
        "textbook Transformer · inference · batch 32 · src_seq 2,048 · tgt_seq 2,048 · fp32"
    )
    assert record["choices"]["precision"]["reason"] == "model"
