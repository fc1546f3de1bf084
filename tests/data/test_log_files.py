"""presets/logs: lines of programs' logs are data, and no text takes long to search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from archcalc.analyze.oom.patterns import Program, expression
from archcalc.run.commands import OOM
from archcalc.run.options import options_of
from archcalc.spec.data_files import node
from archcalc.spec.paths import presets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Run

MOST = 400  # characters of one repeat
NAMES = sorted(presets("logs"))


def lines(program: Program) -> list[str]:
    """All of a program."""
    figures = [line for one in program.figures.values() for line in one.lines]
    values = [one.line for choice in program.options.values() for one in choice.lines]
    failures = [one.line for one in program.failures]
    return [*program.version, *program.begins, *figures, *values, *program.not_counted, *failures]


@pytest.mark.parametrize("name", NAMES)
def test_no_line_takes_long(name: str) -> None:
    """Every repeat has a bound."""
    for line in lines(node(presets("logs")[name], Program)):
        bare = re.sub(r"\\.|\[[^\]]*\]", "x", expression(line))  # without sets and escaped characters
        assert not re.search(r"[*+]|\{\d*,\}", bare), line
        assert all(int(most) <= MOST for most in re.findall(r"\{(?:\d+,)?(\d+)\}", bare)), line


@pytest.mark.parametrize("name", NAMES)
def test_options_are_those_of_the_command(name: str) -> None:
    program = node(presets("logs")[name], Program)
    assert set(program.options) <= {"model", *dict(options_of(OOM))}
    assert program.source.startswith("github.com/")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A file of one's own, with what it says beyond its name."""
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    (tmp_path / "logs").mkdir()

    def write(text: str) -> None:
        said = f"name: Example\nsource: github.com/example\n{text}\n"
        (tmp_path / "logs" / "example.yaml").write_text(said, encoding="utf-8")

    return write


def test_one_file_adds_a_program(run: Run, example: Callable[[str], None]) -> None:
    example(
        "figures: {weights: ['weights: {size}']}\noptions: {seq: {lines: ['length {count}'], over: batch}, "
        "batch: ['times {count}']}\nfailures: [{line: no more room, says: 'Example had {weights} of weights'}]"
    )
    found = run("oom", "gpt2", "--format", "json", stdin="length 512 times 2\nweights: 249.36 MiB\nno more room").json
    assert found["answer"] == "Example had 249.4 MiB of weights"
    assert found["read"] == ["--seq 256", "--batch 2"]
    assert run("oom", "gpt2", stdin="length 512 times 0\nweights: 249.36 MiB").code == 0


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("figures: {weihgts: ['weights: {size}']}", "weihgts"),
        ("failures: [{line: no more room, says: 'it had {weihgts}'}]", "weihgts"),
        ("failures: [{line: no more room, says: 'it had {weights'}]", "says"),
        ("figures: {weights: ['{size}']}", "{size}"),
        ("figures: {weights: ['weights: {word}']}", "{word}"),
        ("figures: {weights: ['weights']}", "weights"),
        ("failures: [{line: '', says: none}]", "line"),
    ],
)
def test_a_slip_of_the_pen_is_told(run: Run, example: Callable[[str], None], text: str, named: str) -> None:
    example(text)
    answer = run("oom", "gpt2", stdin="weights: 1 GiB\nno more room")
    assert answer.code == 2 and named in answer.err and "example.yaml" in answer.err
