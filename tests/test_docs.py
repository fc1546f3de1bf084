"""README and docs show real output: every example is run again, and every command appears."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from archcalc.cli.app import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> Iterator[tuple[str, str, str]]:
    """Page, command and the output shown under it."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield page.name, command, shown.strip("\n")


@pytest.mark.parametrize(("page", "command", "shown"), list(examples()))
def test_an_example_prints_what_is_shown(
    run: Run, page: str, command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the letter; `…` on a line of its own stands for lines left out. Files are named from the project's root."""
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    assert program == "archcalc", f"{page}: only archcalc can be shown"
    answer = run(*arguments)
    printed = "\n".join(line.rstrip() for line in (answer.out + answer.err).strip("\n").splitlines())
    parts = [re.escape(part) for part in re.split(r"^…\n?", shown, flags=re.MULTILINE)]
    assert re.fullmatch(".*".join(parts) if len(parts) > 1 else parts[0], printed, flags=re.DOTALL), printed


def test_there_are_examples() -> None:
    """A pattern that finds nothing would pass everything."""
    assert sum(page == "README.md" for page, _, _ in examples()) >= 5


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command: str) -> None:
    """What exists is told."""
    assert f"archcalc {command}" in PAGES[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run: Run, command: str) -> None:
    """A line in the list, and words for each of its options."""
    assert re.search(rf"^  {command} +\S", run("--help").out, flags=re.MULTILINE)
    options = run(command, "--help").out.partition("\nOptions:\n")[2]
    told = re.split(r"^  (?=-)", options, flags=re.MULTILINE)[1:]
    assert any("--help" in option for option in told)
    for option in told:  # its names and value, then two spaces or a new line, then what it does
        assert re.search(r"\S(?:  +|\n +)[A-Z]", option), f"{command} does not say what {option.split()[0]} does"
