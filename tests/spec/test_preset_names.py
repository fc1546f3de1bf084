"""What people and the Hub call a model, and the preset that is taken for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import archcalc
from archcalc.core.errors import InputError
from archcalc.spec import paths
from archcalc.spec.preset_names import known
from archcalc.spec.repositories import repositories

if TYPE_CHECKING:
    from conftest import Run, Write

TYPED = {
    "Llama-3-8B": "llama-3-8b",
    "llama3-8b": "llama-3-8b",
    "llama3:8b": "llama-3-8b",
    "Meta-Llama-3-8B": "llama-3-8b",
    "meta-llama/Meta-Llama-3-8B-Instruct": "llama-3-8b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama-3.1-8b",
    "meta-llama/Llama-2-7b-chat-hf": "llama-2-7b",
    "meta-llama/Llama-3.3-70B-Instruct": "llama-3.3-70b",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": "llama-4-scout",
    "Qwen/Qwen2.5-72B-Instruct": "qwen2.5-72b",
    "qwen-2.5-72b": "qwen2.5-72b",
    "Qwen2.5 72B": "qwen2.5-72b",
    "qwen2.5_7b": "qwen2.5-7b",
    "Qwen/Qwen3-30B-A3B": "qwen3-30b-a3b",
    "mistralai/Mistral-7B-v0.1": "mistral-7b",
    "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b-v0.3",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "mixtral-8x7b",
    "mistralai/Mistral-Nemo-Instruct-2407": "mistral-nemo-12b",
    "gpt-2": "gpt2",
    "GPT2-XL": "gpt2-xl",
    "openai/gpt-oss-120b": "gpt-oss-120b",
    "gpt-oss:20b": "gpt-oss-20b",
    "google/gemma-3-27b-it": "gemma-3-27b",
    "google/gemma-2-9b": "gemma-2-9b",
    "deepseek-ai/DeepSeek-V3": "deepseek-v3",
    "stabilityai/stablelm-2-1_6b": "stablelm-2-1.6b",
    "google-bert/bert-base-uncased": "bert-base",
    "microsoft/Phi-3-mini-4k-instruct": "phi-3-mini",
    "EleutherAI/pythia-6.9b-deduped": "pythia-6.9b",
    "openai/whisper-large-v3": "whisper-large-v3",
}

OTHERS = [  # each has other shapes than any preset, or another vocabulary
    "llama-3-18b",
    "llama-3-1.8b",
    "llama-318b",
    "Llama-3.1-80B",
    "Llama-3.2-8B",
    "Qwen2.5-7.2B",
    "Qwen2.5-Coder-7B-Instruct",
    "Qwen/Qwen2.5-Math-72B-Instruct",
    "Qwen/Qwen3-4B-Instruct-2507",
    "mistralai/Mistral-7B-Instruct-v0.2",
    "microsoft/Phi-3-mini-128k-instruct",
    "google-bert/bert-base-cased",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
    "google/gemma-1.1-7b-it",
    "meta-llama/Llama-Guard-3-8B",
]

QUANTISED = [
    "Qwen/Qwen2.5-72B-Instruct-AWQ",
    "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4",
    "nvidia/Llama-3.1-70B-Instruct-FP8",
    "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF",
    "llama3.1:8b-instruct-q4_K_M",
    "mlx-community/Qwen2.5-7B-Instruct-4bit",
    "Qwen3-32B-w8a8",
]


@pytest.mark.parametrize(("typed", "preset"), TYPED.items())
def test_a_preset_is_found_as_its_model_is_called(typed: str, preset: str) -> None:
    found = known(typed, paths.presets())
    assert found and found.preset == preset


@pytest.mark.parametrize("typed", OTHERS)
def test_another_model_is_never_taken_for_it(typed: str) -> None:
    """Another size, version, vocabulary or kind."""
    assert known(typed, paths.presets()) is None
    with pytest.raises(InputError, match="no preset and no file is called"):
        archcalc.load(typed)


@pytest.mark.parametrize("typed", QUANTISED)
def test_quantised_weights_are_never_taken_for_unquantised_ones(typed: str) -> None:
    with pytest.raises(InputError, match=r"has quantised weights.*\n.*--weights"):
        archcalc.load(typed)


@pytest.mark.wide
def test_every_preset_is_found_by_its_own_name_alone() -> None:
    """No two of them have the same words, with or without those of training."""
    for preset in paths.presets():
        found = known(preset.upper(), paths.presets())
        assert found and found.preset == preset and not found.is_tuned, preset


def test_what_was_taken_is_told(run: Run) -> None:
    """With the way to the model's own config, where it is one of the Hub."""
    out = run("params", "meta-llama/Llama-3.1-8B-Instruct", columns=200).out
    assert "· model: preset llama-3.1-8b for meta-llama/Llama-3.1-8B-Instruct; a fine-tune has the same shapes" in out
    assert "hf:meta-llama/Llama-3.1-8B-Instruct reads its own config" in out
    assert "model: preset gpt2 for GPT-2\n" in run("params", "GPT-2", columns=200).out
    assert "model: preset" not in run("params", "gpt2").out
    assert archcalc.load("GPT-2").params().total == archcalc.load("gpt2").params().total


def test_a_file_of_that_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Llama-3-8B").write_text("vocab: 10\nd_model: 8\nheads: 2\nffn: 16\ndecoder: 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert archcalc.load("Llama-3-8B").params().total < 10_000


def test_a_near_miss_is_an_error_with_suggestions() -> None:
    with pytest.raises(InputError, match="did you mean llama-3-8b"):
        archcalc.load("llama-3-8")


@pytest.mark.parametrize("preset", sorted(repositories()))
def test_a_repository_that_a_preset_names_is_that_preset(preset: str) -> None:
    """With its owner and without, in any case; nothing is left open, so nothing is said of fine-tunes."""
    for name in repositories()[preset]:
        for typed in (name, name.upper(), name.rpartition("/")[2]):
            found = known(typed, paths.presets())
            assert (found and found.preset, found and found.is_tuned) == (preset, False), typed


def test_of_a_repository_every_word_counts() -> None:
    """The base model of Mixtral 8x22B has 32,000 tokens, its Instruct 32,768."""
    found = known("mistralai/Mixtral-8x22B-Instruct-v0.1", paths.presets())
    assert found and found.preset == "mixtral-8x22b"
    assert known("mistralai/Mixtral-8x22B-v0.1", paths.presets()) is None


def test_a_preset_of_ones_own_names_its_repository(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file at fault beside it is no obstacle."""
    monkeypatch.setenv(paths.VARIABLE, str(tmp_path))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "broken.yaml").write_text("hub: [", encoding="utf-8")
    spec = "hub: us/Tiny-1x\nvocab: 10\nd_model: 8\nheads: 2\nffn: 16\ndecoder: 1\n"
    (tmp_path / "models" / "mine.yaml").write_text(spec, encoding="utf-8")
    assert "model: preset mine for us/Tiny-1x" in run("params", "us/Tiny-1x", columns=200).out
    assert "did you mean mine" in run("params", "us/Tiny-1").err


@pytest.mark.parametrize("said", ["released: 2025-13", "released: true", "hub: Qwen3-8B", "hub: [3]"])
def test_a_mistake_in_names_and_dates_is_told_with_its_line(run: Run, write: Write, said: str) -> None:
    answer = run("params", write(f"vocab: 10\nd_model: 8\nheads: 2\nffn: 16\ndecoder: 1\n{said}\n"))
    assert answer.code == 2
    assert f":6: {said.partition(':')[0]}: expected" in answer.err
