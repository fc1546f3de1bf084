"""`archcalc plot`: a chart in the terminal or a file, points for programs, one clear message for every mistake."""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from conftest import Run, Write

ASKED = ("plot", "llama-3.1-8b", "--x", "seq=1k..128k", "--y", "memory,cache", "--by", "weights", "--gpu", "rtx-4090")


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_the_chart_is_as_wide_as_the_terminal(run: Run, columns: int) -> None:
    chart = run(*ASKED, columns=columns).out.split("\n\n")[1].splitlines()
    assert columns - 12 <= max(map(len, chart)) <= columns


def test_the_chart_has_axes_a_label_at_each_line_and_the_numbers_of_crossings(run: Run) -> None:
    answer = run(*ASKED)
    headline, chart, points, crossings, *_ = answer.out.split("\n\n")
    (last,) = re.findall(r"fits on rtx-4090 up to seq ([\d,]+)", headline)
    assert last in chart and last in crossings
    for label in ("● bf16 · memory", "○ q8_0 · memory", "■ q4_k_m · memory", "□ cache"):
        assert label in chart
    assert re.search(r"^40 GiB ┤", chart, re.MULTILINE)
    assert chart.splitlines()[-1].split() == ["1k", "16k", "32k", "64k", "128k", "seq"]
    assert "╌ rtx-4090 ╌" in chart  # between the lines there is no room for its memory
    assert len(points.splitlines()) == 1 + 8


def test_a_crossing_holds_when_it_is_asked(run: Run) -> None:
    """`archcalc memory` at that length, and at one more."""
    found = run(*ASKED, "--format", "json").json
    capacity = found["capacities"][0]["bytes"]
    for each in found["crossings"]:
        stored = each["curve"].split(" ")[0]
        fits, exceeds = (
            run("memory", "llama-3.1-8b", "--seq", str(each[place]), "--weights", stored, "--format", "json").json
            for place in ("last", "next")
        )
        assert (fits["required_bytes"], exceeds["required_bytes"]) == (each["at_last"], each["at_next"])
        assert fits["required_bytes"] <= capacity < exceeds["required_bytes"]


def test_an_ascii_terminal_gets_marks_that_differ(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    run(*ASKED)
    screen.seek(0)
    shown = screen.read()
    assert "?" not in shown
    for label in ("o bf16", "+ q8_0", "* q4_k_m", "# cache"):
        assert label in shown


def test_points_for_a_spreadsheet(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*ASKED, "--format", "csv").out)))
    assert list(rows[0]) == ["model", "weights", "seq", "memory_bytes", "cache_bytes"]
    assert len(rows) == 3 * 8
    assert {int(row["cache_bytes"]) // int(row["seq"]) for row in rows} == {2 * 32 * 8 * 128 * 2}


@pytest.mark.parametrize("format", ["json", "markdown", "latex", "latex-document"])
def test_every_format_has_the_points(run: Run, format: str) -> None:
    answer = run("plot", "gpt2", "gpt2:decoder.blocks=24", "--x", "batch=1,2", "--format", format)
    assert answer.code == 0, answer.err
    assert "decoder" in answer.out


def test_models_may_be_changed_one_by_one_or_all(run: Run) -> None:
    rows = run("plot", "gpt2", "gpt2:heads=6", "--set", "vocab=100", "--x", "d_model=192,384", "--y", "params").out
    assert "gpt2:heads=6" in rows
    found = run("plot", "gpt2:vocab=100", "--x", "d_model=192,384", "--y", "params", "--format", "json").json
    block = 4 * (192 * 192 + 192) + (2 * 192 * 3072 + 3072 + 192) + 4 * 192
    assert found["rows"][0]["params"] == 12 * block + (100 + 1024) * 192 + 2 * 192


@pytest.mark.parametrize(
    ("suffix", "begins"),
    [
        ("svg", b"<svg "),
        ("html", b"<!DOCTYPE html>"),
        ("csv", b"model,"),
        ("json", b"{"),
        ("md", b"### GPT-2"),
        ("png", b"\x89PNG"),
        ("pdf", b"%PDF"),
    ],
)
def test_the_suffix_decides(run: Run, tmp_path: Path, suffix: str, begins: bytes) -> None:
    file = tmp_path / f"plot.{suffix}"
    answer = run("plot", "gpt2", "--x", "batch=1,2", "-o", str(file))
    assert (answer.code, answer.out) == (0, f"wrote {file}\n")
    assert file.read_bytes().startswith(begins)


def test_nothing_is_overwritten_without_force(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.svg"
    file.write_text("mine")
    asked = ("plot", "gpt2", "--x", "batch=1,2", "-o", str(file))
    answer = run(*asked)
    assert (answer.code, file.read_text()) == (2, "mine")
    assert "the file is there already" in answer.err
    assert run(*asked, "--force").code == 0
    ElementTree.fromstring(file.read_text("utf-8"))


MISTAKES = [
    (
        ["--x", "d_modle=1..8"],
        "--x: neither an option nor a field of the spec is called d_modle\n  did you mean d_model",
    ),
    (["--x", "seq=128k..1k"], "--x seq: 128k..1k runs backwards\n  write 1k..128k"),
    (["--x", "seq=4..4"], "--x seq: 4..4 is a single value"),
    (["--x", "seq=512"], "--x seq: one value makes no curve"),
    (["--x", "seq"], "--x seq: its values are missing"),
    (["--x", "=1,2"], "--x: expected a name and its values"),
    (["--x", "seq="], "--x seq: a value is missing"),
    (["--x", "seq=1,,2"], "--x seq: a value is missing"),
    (["--x", "seq=1..1000:1"], "--x seq: more than 100 values"),
    (["--x", "seq=1..9:0"], "--x seq: a step of 0 leads nowhere"),
    (["--x", "seq=0..9:x2"], "--x seq: 0 stays 0"),
    (["--x", "seq=1..many"], "--x seq: expected a whole number"),
    (["--x", "seq=long,longer"], "--x seq: expected a whole number"),
    (["--x", "attention=eager,flush"], "--x attention: expected one of eager, flash, found flush"),
    (["--x", "weights=bf17,q9"], "--weights: no format called bf17"),
    (["--x", "sp=maybe,true"], "--x sp: expected true or false, found maybe"),
    (["--x", "seq=8,16", "--y", "speed"], "--y: nothing to draw is called speed"),
    (["--x", "seq=8,16", "--y", ""], "--y: expected names"),
    (["--x", "seq=8,16", "--y", "params"], "--y params: parameters do not depend on seq"),
    (["--x", "seq=8,16", "--y", "gradients"], "--y: gradients: 0 at every point"),
    (["--x", "d_model=192,384", "--y", "params", "--batch", "2"], "--batch: has no effect on params"),
    (["--x", "seq=8,16", "--tokens", "1M", "--mode", "train"], "--tokens: has no effect on memory"),
    (["--x", "seq=8,16", "--by", "lora"], "--by lora: its values are missing"),
    (["--x", "seq=8,16", "--by", "hedas=1,2"], "--by: neither an option nor a field of the spec is called hedas"),
    (["--x", "seq=8,16", "--by", "weights=bf17"], "--weights: no format called bf17"),
    (["--x", "seq=8,16", "--by", "seq=32,64"], "--by: --x goes through seq already"),
    (["--x", "seq=8,16", "--by", "batch=1..9:1"], "9 curves are more than the 8 that can be told apart"),
    (["--x", "seq=8,16", "--seq", "32"], "--seq: --x goes through its values already"),
    (["--x", "seq=8,16", "--gpu", "rtx-9999"], "--gpu: no device is called rtx-9999"),
    (["--x", "seq=8,16", "--gpu", "2xrtx-3090"], "--gpu: 2xrtx-3090 is 2 devices, and this answers for one"),
    (["--x", "seq=8,16", "--y", "cache", "--gpu", "h100"], "--gpu: a device's memory is drawn beside memory"),
    (["--x", "seq=8,16", "--engine", "vllm", "--gpu", "h100"], "--gpu: a serving engine fills whatever a device has"),
    (["--x", "seq=8,16", "--log", "z"], "--log: no axis is called z"),
    (["--x", "seq=8,16", "--log", "x", "--linear", "x"], "--linear: x is log or linear, not both"),
    (["--x", "attention=eager,flash", "--log", "x"], "--log: 0 and names have no place on a log axis"),
    (["--x", "seq=8,16", "-o", "x.gif"], "x.gif: no type of file is known by the suffix .gif"),
    (["--x", "seq=8,16", "-o", "x"], "x: the file's name has no suffix"),
    (["--x", "seq=8,16", "-o", "x.svg", "--format", "csv"], "--format: the suffix of the file decides"),
    (["--x", "seq=8,16", "--force"], "--force: --force has no effect where no file is written"),
    (["--x", "seq=8,16", "--format", "png"], "--format: no format called png\n  -o plot.png writes such a file"),
    (["--x", "seq=4k,8k"], "seq: 4,000 positions asked for, but the position table has 1,024"),
    ([], "--x: missing"),
]


@pytest.mark.parametrize(("arguments", "told"), MISTAKES, ids=[" ".join(each) for each, _ in MISTAKES])
def test_a_mistake_is_told_in_one_message(run: Run, arguments: list[str], told: str) -> None:
    answer = run("plot", "gpt2", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {told}")
    assert answer.err.count("error:") == 1


def test_a_model_that_is_named_twice(run: Run) -> None:
    answer = run("plot", "gpt2", "gpt2", "--x", "batch=1,2")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: gpt2: is named twice")


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_a_name_is_text_whatever_it_holds(run: Run, write: Write, tmp_path: Path, suffix: str) -> None:
    name = '<script>alert(1)</script>"&\x1b]'
    sizes = "d_model: 64\nheads: 4\nvocab: 100\nffn: 128\nposition: none\ndecoder: 2\n"
    model = write(f'name: "<script>alert(1)</script>\\"&\\e]"\n{sizes}')
    answer = run("plot", model, "--x", "seq=8,16", "-o", f"plot.{suffix}")
    assert answer.code == 0, answer.err
    written = (tmp_path / f"plot.{suffix}").read_text("utf-8")
    assert "<script" not in written and "\x1b" not in written
    assert "&lt;script&gt;alert(1)" in written
    assert name not in run("plot", model, "--x", "seq=8,16").out


def test_memory_over_a_step_is_drawn_above_its_table(run: Run) -> None:
    asked = ("memory", "gpt2", "--mode", "train", "--timeline")
    *_, chart, alive, table, _ = run(*asked).out.split("\n\n")
    most = binary_bytes(run(*asked, "--format", "json").json["total_bytes"])
    assert table.startswith("timeline")
    assert alive.startswith("alive at op ")
    lines = chart.splitlines()
    why = next(place for place, line in enumerate(lines) if line.strip().startswith("The peak is"))
    first, *rows, axis, phases, legend = lines[:why]
    assert first.strip() == f"▼ peak: backward, loss · {most}"
    peak = first.index("▼")
    assert rows[0].startswith(f"{most} ┤") and rows[0][peak] == "█"
    assert all(len(line) <= 80 for line in chart.splitlines())
    assert phases.split() == ["forward", "backward"]  # there is no room for the names of loss and step
    assert rows[2].rstrip().count("█") > rows[1].count("█") > rows[0].count("█")  # twelve blocks, one after the other
    assert axis.lstrip().startswith("0 └─") and "░ there throughout: 1.89 GiB" in legend


def test_programs_read_a_timeline_without_a_picture(run: Run) -> None:
    for form in ("csv", "json", "markdown", "latex"):
        out = run("memory", "gpt2", "--timeline", "--format", form).out
        assert "▼" not in out and "░" not in out


def test_a_single_point_among_refused_ones_is_said_and_keeps_its_column(run: Run) -> None:
    """GPT-2 has 1,024 positions."""
    out = run("plot", "gpt2", "--x", "seq=1k,2k,16k").out
    assert "memory: 1.06 GiB at seq 1,000, the only value that is not refused" in out.splitlines()
    assert " 2,000" in out.splitlines() and "16,000" in out.splitlines()
