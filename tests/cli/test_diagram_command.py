"""`archcalc diagram`: the type by the file's suffix, nothing overwritten, one clear message for every mistake."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from conftest import Run


@pytest.mark.parametrize(
    ("suffix", "begins"),
    [("svg", "<svg "), ("mmd", "flowchart TB"), ("md", "# GPT-2 small"), ("json", "{"), ("SVG", "<svg")],
)
def test_the_suffix_decides(run: Run, tmp_path: Path, suffix: str, begins: str) -> None:
    file = tmp_path / f"gpt2.{suffix}"
    answer = run("diagram", "gpt2", "-o", str(file))
    assert (answer.code, answer.out) == (0, f"wrote {file}\n")
    assert file.read_text(encoding="utf-8").startswith(begins)


def test_without_a_file_it_prints(run: Run) -> None:
    assert run("diagram", "gpt2").out.startswith("flowchart TB\n")
    ElementTree.fromstring(run("diagram", "gpt2", "--format", "svg").out)
    assert json.loads(run("diagram", "gpt2", "--format", "json", "--depth", "1").out)["parameters"] == 124_439_808


def test_sizes_and_changes_reach_the_picture(run: Run) -> None:
    printed = run("diagram", "gpt2", "--batch", "4", "--seq", "128", "--set", "decoder.blocks=3").out
    assert '"4 × 128 × 768"' in printed
    assert "block × 3" in printed


def test_nothing_is_overwritten_without_force(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.svg"
    file.write_text("mine")
    answer = run("diagram", "gpt2", "-o", str(file))
    assert (answer.code, file.read_text()) == (2, "mine")
    assert "the file is there already" in answer.err
    assert run("diagram", "gpt2", "-o", str(file), "--force").code == 0
    assert file.read_text().startswith("<svg ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["-o", "x.gif"],
            "x.gif: no type of file is known by the suffix .gif\n  choose from: .svg .html .mmd .md .png .pdf .json",
        ),
        (["-o", "x"], "x: the file's name has no suffix"),
        (["-o", ""], "-o: the file's name has no suffix"),
        (["-o", "x.svg", "--format", "svg"], "--format: the suffix of the file decides"),
        (["--format", "png"], "png is written to a file: -o diagram.png"),
        (["--format", "sgv"], "did you mean svg?"),
        (["--force"], "--force: --force has no effect where no file is written"),
        (["--depth", "0"], "--depth: expected a size"),
    ],
)
def test_a_mistake_is_one_message(run: Run, arguments: list[str], told: str) -> None:
    answer = run("diagram", "gpt2", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


def test_a_list_of_tensors_is_no_computation(run: Run, tmp_path: Path) -> None:
    spec = tmp_path / "weights.yaml"
    spec.write_text("family: weights\ntensors: {a.weight: 'bf16 [2, 3]'}\n")
    answer = run("diagram", str(spec))
    assert answer.code == 2
    assert "does not describe the computation" in answer.err


def test_images_name_the_extra_that_they_need(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    answer = run("diagram", "gpt2", "-o", str(tmp_path / "x.png"))
    assert (
        answer.err == "error: CairoSVG, which draws PNG and PDF, is not installed\n  pip install 'archcalc[images]'\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_images_are_written(run: Run, tmp_path: Path, suffix: str, begins: bytes) -> None:
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError):
        pytest.skip("CairoSVG or its library is not installed")
    file = tmp_path / f"x.{suffix}"
    assert run("diagram", "gpt2", "-o", str(file)).code == 0
    assert file.read_bytes().startswith(begins)


def test_landscape_and_no_fold_change_the_picture(run: Run) -> None:
    def size(*options: str) -> tuple[float, float]:
        drawn = ElementTree.fromstring(run("diagram", *options, "--format", "svg").out)
        return float(drawn.get("width") or 0), float(drawn.get("height") or 0)

    (wide, high), (wider, lower) = size("gpt2"), size("gpt2", "--landscape")
    assert wider > wide and lower < high
    assert size("densenet-121", "--no-fold")[0] > 2 * size("densenet-121")[0]
    assert "dense 43 … dense 58 × 16" in run("diagram", "densenet-121").out


def test_a_page_zooms_by_its_own_script(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "gpt2.html"
    assert run("diagram", "gpt2", "-o", str(page)).code == 0
    text = page.read_text(encoding="ascii")
    assert text.startswith("<!DOCTYPE html>") and "default-src 'none'" in text and "Zoom in" in text
