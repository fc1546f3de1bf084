"""A line on the terminal while a search takes long, and none anywhere else."""

from __future__ import annotations

import io
import sys

import pytest

from archcalc.cli import progress
from archcalc.cli.printing import out
from archcalc.core.progress import doing


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """In the place of standard error, which pytest replaces before each test and so not before its fixtures."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    return found


def test_nothing_is_said_in_the_first_second(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _terminal(monkeypatch)
    with progress.shown():
        doing("1 of 2 presets")
    assert terminal.getvalue() == ""


def test_it_says_what_is_done_and_is_gone_before_the_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = _terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    with progress.shown():
        doing("12 of 40 presets: a-name\x1b[31m that is longer than a terminal is wide")
        written = terminal.getvalue()
        out("the answer")
        assert terminal.getvalue() == written + progress.ERASE
    line = written.removeprefix(progress.ERASE)
    assert line.startswith("12 of 40 presets: a-name") and "\x1b" not in line and len(line) == 40 - 1
    assert terminal.getvalue() == written + progress.ERASE
    assert "the answer" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["pipe", "dumb terminal"])
def test_nothing_is_said_where_nobody_looks(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    if where == "pipe":
        monkeypatch.setattr(terminal, "isatty", lambda: False)
    else:
        monkeypatch.setenv("TERM", "dumb")
    with progress.shown():
        doing("1 of 2 presets")
    assert terminal.getvalue() == ""


def test_a_search_tells_how_far_it_is() -> None:
    from archcalc.catalog.runs_here import runs_here
    from archcalc.core.progress import listening
    from archcalc.run.options import Options

    said: list[str] = []
    with listening(said.append):
        runs_here("16GiB", Options.of("fit", {}), "gpt2-")
    assert said[0].startswith("1 of ") and "presets: gpt2-" in said[0]
