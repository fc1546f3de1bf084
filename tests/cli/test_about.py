"""`archcalc MODEL`: one screen, whose figures are those of the other commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run, Write

SCREEN = 20  # lines
PARTIAL = 2  # more, of what a partial count leaves out


@pytest.mark.wide(12)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_it_is_one_screen_that_ends_in_three_commands(run: Run, name: str) -> None:
    answer = run(name)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert len(lines) <= SCREEN + PARTIAL * ("partial count" in answer.out)
    assert max(map(len, lines)) <= 80
    assert sum("  archcalc " in line for line in lines) == 3


def test_the_count_is_said_as_people_do_and_to_the_last_digit(run: Run) -> None:
    lines = run("textbook").out.splitlines()
    assert lines[0] == "textbook Transformer · encoder-decoder transformer"
    assert lines[1].startswith("201.5 M parameters; smallest usual card: ")
    assert lines[2] == "exactly 201,466,160 parameters, 768.5 MiB in fp32"


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gemma-3-4b", "resnet-50", "textbook"])
def test_every_card_is_what_fit_answers(run: Run, name: str) -> None:
    """And no smaller one of the usual cards is enough."""
    answer = run("about", name, "--format", "json").json
    assert answer["rows"]
    for use in answer["rows"]:
        options = [word for key, value in use["options"].items() for word in (f"--{key.replace('_', '-')}", str(value))]
        mode = ("--mode", "train") if use["use"] != "inference" else ()
        gpu = f"{use['gpus']}x{use['card']}" if use["gpus"] > 1 else use["card"]
        if use["gpus"] == 1:
            (row,) = run("fit", name, "--gpu", gpu, *mode, *options, "--format", "json").json["rows"]
            assert row["verdict"] in ("fits", *(["cannot say"] if answer.get("left_out") else [])), use
            assert row["required_bytes"] == use["required_bytes"]


def test_the_cache_of_a_token_is_its_keys_and_values(run: Run) -> None:
    """Of 32 layers, 8 heads of 128 numbers in bf16."""
    cache = run("about", "llama-3.1-8b", "--format", "json").json["cache"]
    assert cache["each"] == 2 * 32 * 8 * 128 * 2
    assert cache["bytes"] == 131_072 * cache["each"]


def test_a_file_of_ones_own_is_a_model(run: Run, write: Write) -> None:
    file = write("family: network\ninput: 784\nlayers: [{linear: 64}, relu, {linear: 10}]\n", "mine.yaml")
    answer = run(file)
    assert answer.code == 0, answer.err
    assert f"exactly {784 * 64 + 64 + 64 * 10 + 10:,} parameters" in answer.out
    assert f"archcalc params {file} --explain" in answer.out


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("parms", "params"),
        ("lama-3-8b", "llama-3-8b"),
        ("memry", "memory"),
        ("nothing-like-it-at-all", "`archcalc --help`"),
    ],
)
def test_a_word_that_is_neither_is_told_what_it_may_have_meant(run: Run, typed: str, meant: str) -> None:
    answer = run(typed)
    assert (answer.code, answer.out) == (2, "")
    assert f"no command, model or file is called {typed}" in answer.err
    assert meant in answer.err


def test_a_name_of_a_command_is_the_command(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where a file is called so."""
    from pathlib import Path

    monkeypatch.chdir(Path(write("d_model: 1\n", "params")).parent)
    assert run("params").out.startswith("textbook Transformer\n201.5 M")


def test_notes_are_printed_on_demand(run: Run) -> None:
    brief, whole = run("fit", "llama-3.1-8b", "--gpu", "h100"), run("fit", "llama-3.1-8b", "--gpu", "h100", "--notes")
    assert "more with --notes: " in brief.out and "more with --notes" not in whole.out
    number = int(brief.out.partition(" more with --notes")[0].rpartition("· ")[2])
    shown = [text.count("\n· ") for text in (brief.out, whole.out)]
    assert shown[1] == shown[0] - 1 + number
    assert len(run("fit", "llama-3.1-8b", "--gpu", "h100", "--format", "json").json["assumptions"]) == shown[1]


def test_what_an_answer_is_worth_is_never_left_out(run: Run) -> None:
    """Positions that the model was not trained for; a count of a part."""
    assert "seq 10,000: longer than the 8,192 that the model was trained for" in run(
        "fit", "llama-3-8b", "--seq", "10000", "--gpu", "h100"
    ).out.replace("\n  ", " ")
    assert "partial count" in run("deepseek-v3").out


def test_one_sentence_heads_every_surface(run: Run) -> None:
    """Composed in one place: `fit`, its JSON, the report's page."""
    summary = run("fit", "llama-3.1-8b", "--gpu", "rtx-4090", "--format", "json").json["summary"]
    printed = " ".join(run("fit", "llama-3.1-8b", "--gpu", "rtx-4090").out.split())
    assert summary.startswith("fits rtx-4090 with ")
    assert all(clause in printed for clause in summary.split("; "))


@pytest.mark.parametrize("command", ["about", "summary", "card"])
@pytest.mark.parametrize("form", ["table", "csv", "html", "json", "latex", "latex-document", "markdown", "svg"])
def test_every_format_has_it_or_says_that_it_has_not(run: Run, command: str, form: str) -> None:
    """There is no picture of a screen of text."""
    answer = run(command, "gpt2", "--format", form)
    assert (answer.code, "there is no picture" in answer.err) == ((2, True) if form == "svg" else (0, False)), (
        answer.err
    )
