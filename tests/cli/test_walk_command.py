"""`archcalc walk`: in the terminal, as data, as a page and as a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from support.safetensors_files import file

if TYPE_CHECKING:
    from conftest import Run

LARGE = 300_000  # bytes of a page that is mailed


def test_the_terminal_shows_every_step_within_80_columns(run: Run) -> None:
    answer = run("walk")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "block × 12" in answer.out
    assert "q                     4  2048×1024 → 2048×768         787,200  103.1 G" in answer.out
    assert "k = encoder·W_k + b_k" in answer.out


def test_one_step_has_its_working(run: Run) -> None:
    told = " ".join(run("walk", "--step", "encoder.blocks.attention.q").out.split())
    assert "heads × (d_model × head_dim + head_dim) = 4 × (1024 × 192 + 192) = 787,200" in told
    assert "heads × 2 × batch × src_seq × d_model × head_dim = 4 × 2 × 32 × 2048 × 1024 × 192" in told


def test_names_of_dims_stand_in_place_of_sizes(run: Run) -> None:
    assert "src_seq×d_model → src_seq×heads·head_dim" in run("walk", "--symbolic", columns=140).out


def test_programs_read_what_people_see(run: Run) -> None:
    record = json.loads(run("walk", "gpt2", "--seq", "64", "--format", "json").out)
    q = next(row for row in record["rows"] if row["title"] == "scores")
    assert q["output"]["dims"] == ["heads", "seq", "kv_seq"]
    assert q["output"]["shape"] == [12, 64, 64]
    assert record["parameters"] == sum(row["parameters"] for row in record["rows"])
    assert [row["path"] for row in record["rows"] if row["path"] == "head"] == ["head"]


@pytest.mark.parametrize("format", ["csv", "markdown", "latex", "latex-document", "svg", "html"])
def test_every_format_has_the_steps(run: Run, format: str) -> None:
    answer = run("walk", "resnet-18", "--step", "conv_1", "--format", format)
    assert answer.code == 0, answer.err
    assert "224" in answer.out


@pytest.mark.parametrize("name", ["textbook", "deepseek-v3", "resnet-50", "densenet-121"])
def test_a_page_stays_small(run: Run, tmp_path: Path, name: str) -> None:
    page = tmp_path / "walk.html"
    assert run("walk", name, "-o", str(page)).out == f"wrote {page}\n"
    assert page.stat().st_size < LARGE


def test_a_picture_of_one_step_is_a_file_for_slides(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "scores.svg"
    run("walk", "--step", "decoder.blocks.cross.scores", "-o", str(picture))
    words = "".join(ElementTree.parse(picture).getroot().itertext())
    assert "scores = q·kᵀ" in words
    assert "heads × tgt_seq × src_seq" in words


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--step", "encoder.block"), "--step: no step called encoder.block"),
        (("-o", "walk.txt"), "no type of file is known by the suffix .txt"),
        (("-o", "walk.html", "--format", "svg"), "the suffix of the file decides"),
        (("--force",), "--force has no effect where no file is written"),
        (("--seq", "0"), "--seq"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_message(run: Run, arguments: tuple[str, ...], told: str) -> None:
    answer = run("walk", *arguments)
    assert answer.code == 2
    assert told in answer.err
    assert "Traceback" not in answer.err


def test_a_file_of_weights_has_no_walk(run: Run, tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(file({"lm_head.weight": ("BF16", [8, 16])}))
    answer = run("walk", str(weights))
    assert answer.code == 2
    assert "Traceback" not in answer.err
