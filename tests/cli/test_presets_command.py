"""`archcalc presets`: what ships, and how to find in it.

What ships grows, so whole answers are asserted over a folder of a few presets, which no new preset changes.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from archcalc.catalog.kinds import belongs, facts_of, reads
from archcalc.core.ir import Module
from archcalc.loading import load
from archcalc.spec import paths

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

FEW = [
    "deepseek-v3",
    "gpt2",
    "jamba-v0.1",
    "kimi-k2",
    "llama-3-8b",
    "llama-3.1-8b",
    "mixtral-8x22b",
    "mixtral-8x7b",
    "olmoe-1b-7b",
    "phi-3-mini",
    "qwen2.5-7b",
]


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of models, where `FEW` is all that ships."""
    (tmp_path / "models").mkdir()
    for name in FEW:
        shutil.copy(paths.presets()[name], tmp_path / "models" / f"{name}.yaml")
    shutil.copytree(paths.data_root() / "typed", tmp_path / "typed")
    monkeypatch.setattr(paths, "data_root", lambda: tmp_path)
    return tmp_path / "models"


def names(run: Run, *options: str) -> list[str]:
    return [row["name"] for row in run("presets", *options, "--format", "json").json["rows"]]


def test_all_are_listed(run: Run) -> None:
    """One line each, in the order of their names, of every kind."""
    rows = run("presets", "--format", "json").json["rows"]
    assert [row["name"] for row in rows] == sorted(paths.presets())
    families = {word for row in rows for word in row["family"].split()}
    assert {"encoder", "decoder", "recurrent", "autoencoder", "mamba", "delta", "rglru"} <= families


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], FEW),
        (["--family", "moe", "--max-params", "10B"], ["olmoe-1b-7b"]),
        (["--family", "mamba moe"], ["jamba-v0.1"]),  # every word is in the family
        (["--kind", "moe", "--max-params", "10B"], ["olmoe-1b-7b"]),  # the same option
        (["--kind", "hybrid"], ["jamba-v0.1"]),  # attention beside a state
        (["--year", "2019"], ["gpt2"]),
        (["--year", "2025-"], ["kimi-k2"]),  # and all later ones
        (
            ["--kind", "moe", "--year", "2023-2024", "--max-params", "60B"],
            ["jamba-v0.1", "mixtral-8x7b", "olmoe-1b-7b"],
        ),
        (["--modality", "text", "--year", "2023"], ["mixtral-8x7b"]),
        (["qwen"], ["qwen2.5-7b"]),  # a part of a name
        (["gpt-2"], ["gpt2"]),  # whatever its signs
        (["llama", "8B"], ["llama-3-8b", "llama-3.1-8b"]),
        (["moe", "--max-params", "10B"], ["olmoe-1b-7b"]),  # or what it is
        (["--min-params", "1T"], ["kimi-k2"]),  # a lower bound alone
        (["--min-params", "124_439_808", "--max-params", "124_439_808"], ["gpt2"]),  # both bounds are included
    ],
)
def test_filters(run: Run, few: Path, options: list[str], found: list[str]) -> None:
    assert names(run, *options) == found


def test_a_new_preset_is_found_at_once(run: Run, few: Path) -> None:
    """One file is all: the list, its filters and every command know it by the name of the file."""
    text = (few / "olmoe-1b-7b.yaml").read_text(encoding="utf-8")
    (few / "olmoe-2.yaml").write_text(text.replace("name: OLMoE", "name: OLMoE 2"), encoding="utf-8")
    assert names(run, "--family", "moe", "--max-params", "10B") == ["olmoe-1b-7b", "olmoe-2"]
    assert run("params", "olmoe-2").out.splitlines()[1] == run("params", "olmoe-1b-7b").out.splitlines()[1]


def test_nothing_is_found(run: Run, few: Path) -> None:
    """The question is repeated, and where to look."""
    answer = run("presets", "--family", "zebra", "--max-params", "10B")
    assert answer.code == 2
    assert "no preset is 'zebra' of 10,000,000,000 parameters or fewer" in answer.err
    assert "`archcalc presets` lists all" in answer.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("meta-llama/Llama-3", "llama-3-8b or llama-3.1-8b"),
        ("Qwen/Qwen2.5", "qwen2.5-7b"),
        ("mixtral", "mixtral-8x7b or mixtral-8x22b"),
        ("phi3", "phi-3-mini"),
        ("deepsek-v3", "deepseek-v3"),
    ],
)
def test_a_name_by_another_spelling(run: Run, few: Path, typed: str, meant: str) -> None:
    """The preset that is meant; whoever names a model as the Hub does learns how that is read."""
    answer = run("params", typed)
    assert answer.code == 2
    assert f"did you mean {meant}" in answer.err
    assert (f"hf:{typed}" in answer.err) == ("/" in typed)


@pytest.mark.parametrize(
    ("word", "meant", "other"), [("image", "vit-b-16", "gpt2"), ("audio", "whisper-tiny", "t5-small")]
)
def test_a_modality_is_what_is_read(run: Run, word: str, meant: str, other: str) -> None:
    """What a decoder writes itself is not read: Whisper reads audio alone."""
    found = {row["name"]: row for row in run("presets", "--modality", word, "--format", "json").json["rows"]}
    assert meant in found and other not in found
    assert len(found["whisper-tiny" if word == "audio" else meant]["reads"]) == 1


def test_a_model_that_reads_two_things_is_multimodal() -> None:
    """By the dims of what enters its tree."""
    root, model = Module("both"), load("gpt2")
    root.body.extend([model.build(), load("vit-b-16").build()])
    assert reads(model, root) == ("text", "images")
    assert belongs("multimodal vision", facts_of(model, root))


def test_a_recording_that_a_sequence_may_have_is_read() -> None:
    """By the rate of the input: Gemma 4 12B usually has none, and what is not run has no op."""
    hears, sees = load("gemma-4-12b"), load("gemma-4-31b")
    assert reads(hears, hears.build()) == ("text", "images", "audio")
    assert reads(sees, sees.build()) == ("text", "images")


@pytest.mark.parametrize("year", ["25", "2025-20", "new", "-2025", "2025-2026-"])
def test_a_year_has_four_digits(run: Run, year: str) -> None:
    answer = run("presets", f"--year={year}")
    assert answer.code == 2 and "--year: expected a year" in answer.err


def test_a_misspelt_modality_is_guessed(run: Run, few: Path) -> None:
    answer = run("presets", "--modality", "imges")
    assert answer.code == 2
    assert "no preset is one that reads 'imges'" in answer.err and "did you mean images" in answer.err


def test_the_list_fits_into_80_columns(run: Run) -> None:
    """Name, kind, parameters and year; what there is no room for is named."""
    lines = run("presets", columns=80).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("2024-07" in line and "8,030,261,248" in line and "llama-3.1-8b" in line for line in lines)
    assert "source left out" in "\n".join(lines)


@pytest.mark.parametrize(
    "word", ["vlm", "vision-language", "image-text-to-text", "multimodal", "encoder", "moe decoder"]
)
def test_words_for_models_that_see_and_write(word: str) -> None:
    """Of parts that read an input or give an answer: what only joins two of them is no kind."""
    seeing, clip, text = (load(name) for name in ("qwen3-vl-30b-a3b", "clip-vit-base-patch32", "llama-3-8b"))
    assert belongs(word, facts_of(seeing, seeing.build()))
    assert not belongs("network", facts_of(seeing, seeing.build()))
    assert not belongs("vlm", facts_of(clip, clip.build()))
    assert not belongs("vlm", facts_of(text, text.build()))
