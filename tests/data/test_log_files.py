"""presets/logs: lines of programs' logs are data, and no text takes long to search."""

from __future__ import annotations

import re._constants as tokens
import re._parser as parser
from typing import TYPE_CHECKING, Any

import pytest

from archcalc.analyze.oom.patterns import Program, expression, programs
from archcalc.run.commands import OOM
from archcalc.run.options import options_of
from archcalc.spec.data_files import node
from archcalc.spec.paths import presets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Run

MOST = 400  # characters of one repeat
NAMES = sorted(presets("logs"))


def lines(program: Program) -> list[str]:
    """All of a program."""
    figures = [line for one in program.figures.values() for line in one.lines]
    values = [one.line for choice in program.options.values() for one in choice.lines]
    return [
        *program.version,
        *program.begins,
        *figures,
        *values,
        *program.not_counted,
        *(f.line for f in program.failures),
    ]


def repeats(parsed: Any, depth: int = 0) -> Iterator[tuple[int, int]]:
    """The most of each repeat, and in how many others it stands."""
    for kind, value in parsed:
        if kind in (tokens.MAX_REPEAT, tokens.MIN_REPEAT):
            yield int(value[1]), depth
            yield from repeats(value[2], depth + 1)
        elif kind is tokens.SUBPATTERN:
            yield from repeats(value[-1], depth)
        elif kind is tokens.BRANCH:
            for branch in value[1]:
                yield from repeats(branch, depth)


@pytest.mark.parametrize("name", NAMES)
def test_no_line_takes_long(name: str) -> None:
    """Every repeat has a bound, and those within others are short."""
    for line in lines(node(presets("logs")[name], Program)):
        for most, depth in repeats(parser.parse(expression(line))):
            assert most <= (15 if depth else MOST), line


@pytest.mark.parametrize("name", NAMES)
def test_options_are_those_of_the_command(name: str) -> None:
    program = node(presets("logs")[name], Program)
    assert set(program.options) <= {"model", *dict(options_of(OOM))}
    assert program.source.startswith("github.com/")


def test_one_file_adds_a_program(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "logs" / "example.yaml"
    file.parent.mkdir()
    file.write_text(
        "name: Example\nsource: github.com/example\nfigures: {weights: ['weights: {size}']}\n"
        "options: {seq: ['length {count}']}\nfailures: [{line: 'no more room', says: 'Example had {weights} of weights'}]\n"
    )
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    assert "Example" in [one.name for one in programs()]
    answer = run("oom", "gpt2", "--format", "json", stdin="length 512\nweights: 249.35 MiB\nno more room")
    assert answer.json["answer"] == "Example had 249.3 MiB of weights" and answer.json["read"] == ["--seq 512"]


def test_a_figure_has_to_be_known(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "logs" / "example.yaml"
    file.parent.mkdir()
    file.write_text("name: Example\nsource: github.com/example\nfigures: {weihgts: ['weights: {size}']}\n")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    answer = run("oom", "gpt2", stdin="weights: 1 GiB")
    assert answer.code == 2 and "weihgts" in answer.err
