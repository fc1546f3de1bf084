"""archcalc fit --table as people see it: in terminals of any width, as a picture, and what is wrong with a question."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from conftest import Run

SVG = "{http://www.w3.org/2000/svg}"
TEN = ("fit", "llama-3.1-8b", "--table", "weights=bf16,q8_0,q4_k_m,gpu")
GREEN, YELLOW, RED = "\x1b[32m", "\x1b[33m", "\x1b[31m"


def lines(text: str) -> list[str]:
    """Those of the table."""
    return text.split("\n\n")[1].splitlines()


@pytest.mark.parametrize("wide", [80, 140])
def test_every_card_has_its_column_at_every_width(run: Run, monkeypatch: pytest.MonkeyPatch, wide: int) -> None:
    """Ten of them, each under its name and its memory."""
    monkeypatch.setenv("COLUMNS", str(wide))
    answer = run(*TEN).out
    heads, sizes, *rows = lines(answer)
    assert all(len(line) <= wide for line in answer.splitlines())
    assert len(heads.split()) == 11
    assert sizes.replace("GB", "").split() == ["8", "12", "16", "24", "24", "32", "48", "48", "80", "141"]
    assert [row.split()[0] for row in rows] == ["bf16", "q8_0", "q4_k_m"]
    cells = [re.split(r"\s{2,}", row.strip()) for row in rows]
    assert {len(row) for row in cells} == {11}


def test_the_answer_is_a_sentence_about_cards(run: Run) -> None:
    """Of each format the smallest card, as cards are sold; what needs no smaller one is not told."""
    told = run(*TEN).out.splitlines()[1]
    assert told == "bf16 fits from 24 GB, q8_0 from 12 GB, q4_k_m from 8 GB"
    several = run("fit", "gpt2", "qwen3-0.6b", "llama-3.1-70b", "--gpu", "8GB", "--gpu", "24GB").out.splitlines()
    assert "gpt2, qwen3-0.6b fit from 8 GB; on none of these llama-3.1-70b" in several


def test_cells_are_coloured_by_their_verdict(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    row = next(line for line in run(*TEN).out.splitlines() if line.startswith("bf16"))
    assert f"{RED}✗10.3" in row and f"{GREEN}31k" in row
    assert f"{YELLOW}≈0.1" in run(*TEN).out


def test_a_narrow_cell_never_says_more_than_there_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """31,120 tokens are 31k, and 54,999 would be 54k."""
    monkeypatch.setenv("COLUMNS", "80")
    found = {
        row["gpu"]: row["max_seq"] for row in run(*TEN, "--format", "json").json["rows"] if row["weights"] == "bf16"
    }
    cells = lines(run(*TEN).out)[2].split()[1:]
    for cell, most in zip(cells, found.values(), strict=True):
        if cell.endswith("k"):
            assert int(cell[:-1]) * 1000 <= most < (int(cell[:-1]) + 1) * 1000


def test_the_picture_has_a_cell_for_each(run: Run, tmp_path: Path) -> None:
    """With a legend of its colours, and no colour that the legend does not have."""
    file = tmp_path / "matrix.svg"
    assert run(*TEN, "-o", str(file)).out == f"wrote {file}\n"
    root = ElementTree.fromstring(file.read_text("utf-8"))
    cells = [one for one in root.iter(f"{SVG}g") if "data-cell" in one.attrib]
    keys = [one for one in root.iter(f"{SVG}g") if "data-key" in one.attrib]
    shades = [{rect.get("fill") for rect in each.iter(f"{SVG}rect")} for each in (*cells, *keys)]
    assert len(cells) == 3 * 10
    assert set().union(*shades[: len(cells)]) == set().union(*shades[len(cells) :])
    assert "Llama 3.1 8B: bf16 fits from 24 GB" in file.read_text("utf-8")
    assert file.read_text("utf-8") == run(*TEN, "--format", "svg").out


def test_a_picture_of_devices_is_written_too(run: Run, tmp_path: Path) -> None:
    """The chart that `fit` has without a table; a file that is there stays."""
    file = tmp_path / "devices.svg"
    assert run("fit", "gpt2", "-o", str(file)).code == 0 and "rtx-4090" in file.read_text("utf-8")
    again = run("fit", "gpt2", "-o", str(file))
    assert again.code == 2 and "there already" in again.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gpt2", "--table", "weights=,gpu"], "a value of weights is empty"),
        (["gpt2", "--table", "weights=nonsense,gpu"], "no format called nonsense"),
        (["gpt2", "--table", "plan=tp,gpu"], "tp is no plan"),
        (["gpt2", "--table", "model=gpt2,gpu"], "models are named before the options"),
        (["gpt2", "--table", "batch=x,gpu"], "expected a whole number"),
        (["gpt2", "--table", "gpus,weights"], "did you mean gpu"),
        (["gpt2", "--table", "weights,gpu", "--cell", "contexts"], "did you mean context"),
        (["gpt2", "--table", "batch,gpu", "--cell", "batch"], "batch is an axis already"),
        (["gpt2", "--cell", "batch"], "is about the cells of a table"),
        (["gpt2", "textbook", "--table", "weights,gpu"], "is about one model"),
        (["gpt2", "--table", "context=1" + "".join(f",{n}" for n in range(2, 100)) + ",gpu"], "more than 512"),
        (["gpt2", "textbook", "--check"], "has no effect with a table"),
        (["gpt2", "--table", "weights,gpu", "-o", "matrix.gif"], "no type of file is known by the suffix .gif"),
    ],
)
def test_mistakes_are_told(run: Run, arguments: list[str], told: str) -> None:
    answer = run("fit", *arguments)
    assert answer.code == 2 and told in answer.err and "Traceback" not in answer.err
