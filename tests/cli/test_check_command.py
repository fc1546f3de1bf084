"""`archcalc check` as a teacher calls it: with the sheet that was given out, and for a whole class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

LENET = {"conv_1": "5*5*1*6 + 6", "model": "61,706"}


def filled(text: str, **answers: str) -> str:
    lines = []
    for line in text.splitlines():
        name, _, comment = line.partition(":  # ")
        lines.append(f"{name}: {answers[name.strip()]}" if comment and name.strip() in answers else line)
    return "\n".join(lines)


@pytest.fixture
def sheet(run: Run, tmp_path: Path) -> Path:
    run("worksheet", "lenet-5", "--questions", "params", "-o", str(tmp_path / "sheet"))
    return tmp_path / "sheet" / "ANSWERS.yaml"


@pytest.fixture
def folder(sheet: Path, tmp_path: Path) -> Path:
    """Ada is right, Ben forgets a bias twice, Cleo took another network, Dan's file is broken, Eve's is none."""
    text, folder = sheet.read_text("utf-8"), tmp_path / "answers"
    (folder / "ben").mkdir(parents=True)
    (folder / "ada.yaml").write_text(filled(text, **LENET).replace("student:", "student: Ada L."), "utf-8")
    (folder / "ben" / "ANSWERS.yaml").write_text(filled(text, conv_1="5*5*6", conv_2="5*5*6*16"), "utf-8")
    changed = text.replace("{conv: 6, kernel: 5", "{conv: 8, kernel: 5")
    (folder / "cleo.yaml").write_text(filled(changed, conv_1="5*5*8 + 8"), "utf-8")
    (folder / "dan.yaml").write_text("worksheet: [", "utf-8")
    (folder / "eve.yml").write_bytes(b"\0\1\2")
    (folder / ".hidden.yaml").write_text("worksheet: [", "utf-8")
    return folder


def test_another_network_of_the_same_name_is_seen(run: Run, folder: Path) -> None:
    """By the file alone, since it was changed after it was written."""
    answer = run("check", str(folder / "cleo.yaml"))
    assert answer.code == 1
    assert "the model or the questions were changed after the file was written" in " ".join(answer.out.split())
    assert "not the sheet" not in run("check", str(folder / "ada.yaml")).out


def test_answers_are_marked_by_the_sheet_that_was_given_out(run: Run, folder: Path, sheet: Path) -> None:
    """And what differs is named."""
    answer = run("check", str(folder / "cleo.yaml"), "--sheet", str(sheet), "--format", "json")
    assert answer.json["changed"].endswith("model.layers[0].conv: 6, here 8")
    assert (answer.json["right"], answer.json["wrong"]) == (0, 1)
    again = run("check", str(folder / "cleo.yaml"), "--key", str(sheet.parent), "--format", "json")
    assert again.json == answer.json


def test_a_changed_fingerprint_deceives_no_teacher(run: Run, folder: Path, sheet: Path, tmp_path: Path) -> None:
    """A sheet that was made anew looks whole by itself, but not beside the one that was given out."""
    spec = tmp_path / "lenet.yaml"
    spec.write_text(run("show", "lenet-5").out.replace("{conv: 6, kernel: 5", "{conv: 8, kernel: 5"), "utf-8")
    run("worksheet", str(spec), "--questions", "params", "-o", str(tmp_path / "own"))
    forged = tmp_path / "own" / "ANSWERS.yaml"
    assert run("check", str(forged), "--format", "json").json["changed"] == ""
    assert run("check", str(forged), "--sheet", str(sheet), "--format", "json").json["changed"]


def test_a_folder_is_a_table_and_a_histogram(run: Run, folder: Path, sheet: Path) -> None:
    found = run("check", str(folder), "--sheet", str(sheet), "--format", "json")
    assert found.code == 1
    rows = {row["file"]: row for row in found.json["rows"]}
    assert set(rows) == {"ada", "ben", "cleo", "dan", "eve"}
    assert (rows["ada"]["student"], rows["ada"]["right"]) == ("Ada L.", 2)
    assert (rows["ben"]["wrong"], rows["ben"]["mistake"]) == (2, "forgotten bias")
    assert rows["cleo"]["changed"]
    assert all(rows[name]["trouble"] and rows[name]["total"] == 0 for name in ("dan", "eve"))
    mistakes = {one["name"]: one for one in found.json["mistakes"]}
    assert (mistakes["forgotten bias"]["answers"], mistakes["forgotten bias"]["files"]) == (2, 1)


def test_a_folder_in_words_and_for_a_gradebook(run: Run, folder: Path) -> None:
    told = run("check", str(folder)).out
    assert "5 files · 0 all right · 1 with another model · 2 that cannot be read" in told
    assert "ada (Ada L.)" in told
    assert "forgotten bias" in told
    assert "2 different sheets, each file marked by its own" in " ".join(told.split())
    assert "different sheets" not in run("check", str(folder), "--sheet", str(folder / "ada.yaml")).out
    head, *rows = run("check", str(folder), "--format", "csv").out.splitlines()
    assert head.startswith("file,student,right,rounded,follows,wrong,unreadable,open,total")
    assert [row.partition(",")[0] for row in rows] == ["ada", "ben", "cleo", "dan", "eve"]


def test_sheets_by_seed_are_told_apart(run: Run, tmp_path: Path) -> None:
    """Each file is marked by the sheet that it was made of."""
    for seed in ("1", "2"):
        run("worksheet", "sentiment-lstm", "--seed", seed, "--questions", "params", "-o", str(tmp_path / seed))
    for seed in ("1", "2"):
        own = run("check", str(tmp_path / seed / "ANSWERS.yaml"), "--sheet", str(tmp_path), "--format", "json").json
        assert (own["seed"], own["changed"]) == (int(seed), "")


@pytest.mark.parametrize("arguments", [(), ("--sheet", "EMPTY"), ("--sheet", "nowhere.yaml")])
def test_an_empty_folder_is_one_message(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    empty = str(tmp_path)
    answer = run("check", empty, *(word.replace("EMPTY", empty) for word in arguments))
    assert (answer.code, answer.out) == (2, "")
    assert "no file of answers" in answer.err or "there is no such file" in answer.err


def test_a_sheet_that_is_a_page_is_one_message(run: Run, folder: Path, sheet: Path) -> None:
    answer = run("check", str(folder), "--sheet", str(sheet.with_name("key.md")))
    assert (answer.code, answer.out, "Traceback" in answer.err) == (2, "", False)
    assert "key.md" in answer.err


@pytest.mark.parametrize("model", ["textbook", "lenet-5", "sentiment-lstm", "vae-mnist", "word2vec-cbow", "rnnsearch"])
def test_a_figure_that_nothing_explains_is_wrong_and_no_more(run: Run, tmp_path: Path, model: str) -> None:
    """Every misreading is tried on every family, whatever it writes in short form."""
    text = run("worksheet", model, "--answers").out
    last = next(line.partition(":  # ")[0].strip() for line in reversed(text.splitlines()) if ":  # P" in line)
    (tmp_path / "a.yaml").write_text(filled(text, **{last: "7"}), "utf-8")
    answer = run("check", str(tmp_path / "a.yaml"), "--format", "json")
    assert (answer.code, answer.json["wrong"]) == (1, 1), answer.err
