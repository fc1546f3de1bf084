"""README and docs show real output: every example is run again, and every command appears."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from archcalc.cli import commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Run

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^ *```([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SERVES = ("ui", "mcp")  # which run until they are ended, in tests of their own
LANGUAGES = {"console", "yaml", "python", "sh", "text"}  # all but `text` are run as they stand
FRONT = (ROOT / "docs" / "index.md").read_text("utf-8")  # which lists the others: tests/test_site_pages.py
LESSONS = re.findall(r"^- .*\(([\w-]+\.md)\)", FRONT.partition("\n## Lessons\n")[2].partition("\n## ")[0], re.MULTILINE)
LONGEST = 160  # lines of README
SMALL = 30_000  # bytes of a picture that README shows
WALKED_THROUGH = "architecture.md"  # the YAML of a family and of a device made there: tests/test_architecture_page.py


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """Page and text of every block in a language, such as `console`."""
    for page in PAGES:
        for found, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if found == language:
                yield page.name, text


def examples() -> Iterator[tuple[str, str, str]]:
    """Page, command and the output shown under it."""
    for page, block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield page, command, shown.strip("\n")


def by_command() -> dict[str, list[tuple[str, str]]]:
    """Each command once, with the pages that show it and what they show."""
    found: dict[str, list[tuple[str, str]]] = {}
    for page, command, shown in examples():
        found.setdefault(command, []).append((page, shown))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_language_that_is_run(page: Path) -> None:
    """Text between fences that no test reads would go stale."""
    text = page.read_text(encoding="utf-8")
    assert {language for language, _ in BLOCK.findall(text)} <= LANGUAGES
    assert 2 * len(BLOCK.findall(text)) == len(re.findall(r"^ *(?:```|~~~)", text, re.MULTILINE))


@pytest.mark.parametrize(("command", "shown_on"), by_command().items(), ids=list(by_command()))
def test_an_example_prints_what_is_shown(
    run: Run, command: str, shown_on: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the letter; `…` on a line of its own stands for lines left out. Files are named from the project's root."""
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    assert program == "archcalc", f"{shown_on[0][0]}: only archcalc can be shown"
    answer = run(*arguments)
    printed = "\n".join(line.rstrip() for line in (answer.out + answer.err).strip("\n").splitlines())
    for page, shown in shown_on:
        parts = [re.escape(part) for part in re.split(r"^…\n?", shown, flags=re.MULTILINE)]
        assert re.fullmatch(".*".join(parts), printed, flags=re.DOTALL), f"{page}: {printed}"


def within_sentences() -> dict[str, str]:
    """Commands with arguments and their pages, without patterns such as `fit MODEL`; `verify` is slow, and shown."""
    found: dict[str, str] = {}
    for page in PAGES:
        for command in re.findall(r"`archcalc ([^`]+ [^`]+)`", BLOCK.sub("", page.read_text("utf-8"))):
            is_pattern = re.search(r"(?:^|[ [])[A-Z]+\b", command) or page.name == WALKED_THROUGH
            if not is_pattern and command.split()[0] not in ("verify", *SERVES):
                found[" ".join(command.split())] = page.name
    return found


@pytest.mark.parametrize(("command", "page"), within_sentences().items())
def test_a_command_within_a_sentence_runs(
    run: Run, command: str, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with a model's `config.json` and a `my-model.yaml`, as `init` writes it."""
    shutil.copy(ROOT / "docs" / "examples" / "tiny" / "config.json", tmp_path)
    monkeypatch.chdir(tmp_path)
    if not command.startswith("init"):
        assert run("init", "my-model.yaml").code == 0
    answer = run(*shlex.split(command.partition(" > ")[0]))
    assert answer.code == 0, f"{page}: {answer.err}"


@pytest.mark.parametrize(("page", "text"), list(blocks("sh")))
def test_a_shell_command_runs_when_it_is_copied(
    run: Run, page: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shell reads it; archcalc's lines are run beside a `my-model.yaml` as `init` writes it."""
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    monkeypatch.chdir(tmp_path)
    assert run("init", "my-model.yaml").code == 0
    for line in re.findall(rf"^archcalc (?!(?:{'|'.join(SERVES)})\b)(.*)$", text, re.MULTILINE):
        arguments = shlex.split(line.partition(" > ")[0], comments=True)
        answer = run(*arguments)
        assert answer.code == 0, f"{page}: archcalc {line}: {answer.err}"


def pictures() -> list[tuple[Path, str, str]]:
    """Page, command and file of every picture that a comment says how to draw."""
    named = re.compile(r"^<!-- archcalc ([^\n]*) (?:-o|>) (\S+) -->$", re.MULTILINE)
    return [(page, *found) for page in PAGES for found in named.findall(page.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "command", "file"), pictures(), ids=[file for _, _, file in pictures()])
def test_a_picture_is_what_its_command_draws(run: Run, tmp_path: Path, page: Path, command: str, file: str) -> None:
    """And it stands on the page that says how."""
    drawn = tmp_path / Path(file).name
    printed = "--format svg" in command
    answer = run(*shlex.split(command), *([] if printed else ["-o", str(drawn)]))
    assert answer.code == 0, answer.err
    assert (answer.out if printed else drawn.read_text("utf-8")) == (page.parent / file).read_text("utf-8")
    assert f"]({file})" in page.read_text("utf-8")


def test_every_picture_has_its_command_and_is_small() -> None:
    drawn = {(page.parent / file).resolve() for page, _, file in pictures()}
    kept = {*(ROOT / "docs").glob("*.svg"), *(ROOT / "docs" / "pictures").iterdir()}
    assert drawn == kept
    assert all(file.stat().st_size < SMALL for file in (ROOT / "docs" / "pictures").iterdir())


def test_there_are_examples() -> None:
    """A pattern that finds nothing would pass everything."""
    assert sum(page == "README.md" for page, _, _ in examples()) >= 2


@pytest.mark.parametrize(("page", "text"), list(blocks("python")))
def test_a_program_runs_when_it_is_copied(page: str, text: str, tmp_path: Path) -> None:
    """Each on its own, as a file, with the imports that it shows."""
    file = tmp_path / f"{page}.py"
    file.write_text(text, encoding="utf-8")
    runpy.run_path(str(file), run_name="example")


@pytest.mark.parametrize(("page", "text"), [block for block in blocks("yaml") if block[0] != WALKED_THROUGH])
def test_a_spec_answers_when_it_is_copied(run: Run, page: str, text: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(text, encoding="utf-8")
    answer = run("params", str(spec))
    assert answer.code == 0, f"{page}: {answer.err}"


def test_there_are_programs_and_specs() -> None:
    """A pattern that finds nothing would pass everything."""
    assert len(list(blocks("python"))) >= 4
    assert len(list(blocks("yaml"))) >= 7


def test_the_readme_is_a_front_page() -> None:
    text = PAGES[0].read_text("utf-8")
    assert text.count("\n") <= LONGEST
    assert "(docs/index.md)" in text


def test_ten_tasks_are_solved_by_what_the_readme_suggests() -> None:
    """Their commands are run above; README names each of them, so that a newcomer types it first."""
    first = [shlex.split(command)[1] for page, command, _ in examples() if page == "tasks.md"]
    suggested = {words[1] for words in map(str.split, re.findall(r"archcalc [\w.-]+", PAGES[0].read_text("utf-8")))}
    assert len(first) == 10 and set(first) <= suggested


def test_there_are_lessons() -> None:
    """A pattern that finds nothing would pass everything."""
    assert len(LESSONS) >= 20


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_starts_with_a_question_and_ends_with_an_exercise_and_its_answer(lesson: str) -> None:
    """The answer is the output of a command, which is compared above, and the last thing on the page."""
    page = (ROOT / "docs" / lesson).read_text("utf-8")
    assert re.match(r"# .+\n\n\*\*[A-Z][^*]+\?\*\*", page)
    asked, _, answer = page.partition("\n## Exercise\n\n")[2].rpartition("```console\n$ archcalc ")
    assert asked and answer.endswith("\n```\n") and answer.count("```") == 1


@pytest.mark.parametrize("command", commands.names())
def test_every_command_is_told_of(command: str) -> None:
    """In README or docs, by name."""
    assert any(f"archcalc {command}" in page.read_text(encoding="utf-8") for page in PAGES)


@pytest.mark.parametrize("command", commands.names())
def test_every_command_has_help(run: Run, command: str) -> None:
    """A line in the list, and words for each of its options."""
    assert re.search(rf"^  {command} +\S", run("--help").out, flags=re.MULTILINE)
    shown = run(command, "--help-all").out
    assert shown.startswith(f"Usage: archcalc {command}")
    _, *listed = re.split(r"^  (?=-)", shown, flags=re.MULTILINE)
    for option in listed:  # its names and value, then two spaces or a new line, then what it does
        assert re.search(r"\S(?:  +|\n +)[A-Z]", option), f"{command} does not say what {option.split()[0]} does"
