"""`archcalc worksheet` and `archcalc check`, as a teacher and a student call them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

FILES = {"markdown": "md", "latex": "tex", "html": "html"}


def filled(text: str, **answers: str) -> str:
    """The file with some blanks filled in, by the last part of their names."""
    lines = []
    for line in text.splitlines():
        name = line.partition(":")[0].strip()
        is_blank = name in answers and "  # " in line
        lines.append(f"    {name}: {answers[name]}" if is_blank else line)
    return "\n".join(lines)


@pytest.mark.parametrize("format", FILES)
def test_three_files_are_written(run: Run, tmp_path: Path, format: str) -> None:
    """The page has no answers, the key has them all, and the file of answers can be marked."""
    answer = run("worksheet", "gpt2", "--format", format, "-o", str(tmp_path / "out"))
    assert answer.code == 0, answer.err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {f"worksheet.{FILES[format]}", f"key.{FILES[format]}", "ANSWERS.yaml"}
    page, key = ((tmp_path / "out" / f"{name}.{FILES[format]}").read_text("utf-8") for name in ("worksheet", "key"))
    digits = "".join(filter(str.isdigit, key))
    assert "124439808" in digits
    assert "124439808" not in "".join(filter(str.isdigit, page))
    assert run("check", str(tmp_path / "out" / "ANSWERS.yaml")).code == 1


def test_nothing_is_overwritten(run: Run, tmp_path: Path) -> None:
    """Nor is any file written where one of the three is there."""
    (tmp_path / "key.md").write_text("mine", "utf-8")
    answer = run("worksheet", "gpt2", "-o", str(tmp_path))
    assert (answer.code, "the file is there already" in answer.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["key.md"]
    assert run("worksheet", "gpt2", "-o", str(tmp_path), "--force").code == 0
    assert (tmp_path / "key.md").read_text("utf-8") != "mine"


def test_a_file_names_the_page_and_its_format(run: Run, tmp_path: Path) -> None:
    assert run("worksheet", "gpt2", "-o", str(tmp_path / "ex1.md")).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"ex1.md", "ex1-key.md", "ex1-ANSWERS.yaml"}
    assert run("worksheet", "gpt2", "--format", "html", "-o", str(tmp_path / "ex2.md")).code == 2


def test_right_wrong_and_open(run: Run, write: Write) -> None:
    text = run("worksheet", "textbook", "--answers", "--questions", "params").out
    file = write(filled(text, source_embedding="30,721,024", head="1024*30000"), "ANSWERS.yaml")
    answer = run("check", file)
    assert answer.code == 1
    assert "1 of 19 right · 1 wrong · 17 not answered" in answer.out
    assert "first mistake: P16, head: the bias is missing: + 30,000" in answer.out


def test_all_right_exits_with_0(run: Run, write: Write) -> None:
    text = run("worksheet", "linear-autoencoder", "--answers", "--questions", "params").out
    file = write(filled(text, encoder="784*32", decoder="32*784", model="2*784*32"), "ANSWERS.yaml")
    answer = run("check", file, "--format", "json")
    assert (answer.code, answer.json["right"], answer.json["total"]) == (0, 3, 3)


def test_json_names_the_mistake(run: Run, write: Write) -> None:
    text = run("worksheet", "textbook", "--answers", "--questions", "params").out
    found = run("check", write(filled(text, head="1024*30000")), "--format", "json").json
    row = next(row for row in found["rows"] if row["name"] == "head")
    assert (row["standing"], row["mistake"], row["expected"]) == ("wrong", "forgotten bias", 30_750_000)
    assert found["first_mistake"] == "head"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        ("vocab: 5", "vocab: no such field"),
        ("worksheet: 1", "questions: expected a list"),
        ("worksheet: 7", "worksheet: expected 1"),
        ("worksheet: 1\nquestions: [params]", "model: expected the fields of a spec"),
        ("worksheet: 1\nquestions: [params]\nmodel: {decoder: 3}\nanswers: {}", "d_model"),
        ("worksheet: 1\nquestions: [prams]\nmodel: {}", "no question called 'prams'"),
        ("worksheet: [", "not valid YAML"),
    ],
)
def test_a_broken_file_is_one_message(run: Run, write: Write, text: str, told: str) -> None:
    answer = run("check", write(text, "ANSWERS.yaml"))
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert "ANSWERS.yaml" in answer.err
    assert "Traceback" not in answer.err


def test_there_is_no_such_file(run: Run) -> None:
    answer = run("check", "nowhere.yaml")
    assert (answer.code, "nowhere.yaml: there is no such file" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--seed", "abc"), "--seed: expected a whole number, found 'abc'"),
        (("--questions", ""), "--questions: nothing is asked"),
        (("--questions", "prams"), "--questions: no question called prams"),
        (("--format", "pdf"), "--format: no format called pdf"),
        (("-o", ""), "--output: the name is empty"),
        (("-o", "/proc/nowhere"), "/proc/nowhere: this folder cannot be made"),
    ],
)
def test_a_wrong_option_is_told(run: Run, arguments: tuple[str, ...], told: str) -> None:
    answer = run("worksheet", "gpt2", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
