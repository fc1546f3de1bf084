"""Help: commands by what they are for, the options that most people want, examples that run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from archcalc.cli import commands, help_pages
from archcalc.cli.help import GROUPS, OTHERS, OUTPUT, Help
from archcalc.run.options import options_of
from archcalc.spec.option import GROUPS as QUESTIONS
from archcalc.spec.option import flag_of

if TYPE_CHECKING:
    from conftest import Run

EXAMPLES = [(name, line) for name in commands.names() for line in commands.help_of(name).examples]
UNTIL_STOPPED = {"ui", "mcp"}  # commands that serve until they are stopped
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1002.00 MiB."
VLLM = """\
INFO 07-01 [config.py:1] Initializing a V1 LLM engine (v0.9.1) with config: model='meta-llama/Llama-3.1-8B-Instruct', \
dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1
INFO 07-01 [gpu_model_runner.py:1] Model loading took 14.9889 GiB and 3.2 seconds
"""
FIRST = ("gpu", "seq", "batch", "context", "weights", "kv-dtype", "mode", "engine", "tp", "lora", "optimizer")
AND_THESE = ("recompute", "precision", "zero", "offload")
CONFIG = '{"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100, "n_positions": 32}'
HANDED_IN = "archcalc worksheet textbook -o sheet && mkdir handed-in && cp sheet/ANSWERS.yaml handed-in/ada.yaml"


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As it is typed, in this folder."""
    typed = f'archcalc() {{ "{sys.executable}" -m archcalc "$@"; }}\nset -o pipefail\n{line}'
    return subprocess.run(["bash", "-c", typed], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the files that examples speak of."""
    made = tmp_path_factory.mktemp("examples")
    for name, text in (("error.txt", OOM), ("vllm.log", VLLM), ("config.json", CONFIG)):
        (made / name).write_text(text, encoding="utf-8")
    assert shell(HANDED_IN, made).returncode == 0
    return made


@pytest.mark.parametrize("command", commands.names())
def test_every_command_declares_its_group_and_three_examples(command: str) -> None:
    """In its own file: HELP = Help(GROUP, {"fit gpt2 --gpu 4090": "does it fit my card?", …})."""
    declared = commands.help_of(command)
    assert declared.group in GROUPS and declared.group != OTHERS, f"{command}.py declares no group"
    assert len(declared.examples) == 3, f"{command}.py declares no three examples"
    assert all(len(said.split()) >= 3 or len(said) > 7 for said in declared.examples.values())


@pytest.mark.parametrize(("command", "line"), EXAMPLES)
def test_an_example_is_of_its_command_and_fits_a_terminal(command: str, line: str) -> None:
    assert line.split()[0] == command or command == "about"
    assert len(f"  archcalc {line}") <= 80


@pytest.mark.parametrize("line", [line for name, line in EXAMPLES if name not in UNTIL_STOPPED])
def test_an_example_runs(line: str, folder: Path) -> None:
    """`check` exits with 1 where answers are blank."""
    done = shell(f"archcalc {line}", folder)
    assert done.returncode == 0 or (line.startswith("check ") and done.returncode == 1), done.stderr
    assert done.stdout or ">" in line


@pytest.mark.parametrize("line", [line for name, line in EXAMPLES if name in UNTIL_STOPPED])
def test_an_example_that_serves_until_it_is_stopped_is_understood(run: Run, line: str) -> None:
    assert run(*line.split(), "--help").code == 0


@pytest.mark.parametrize("line", help_pages.START)
def test_what_is_shown_first_runs(line: str, folder: Path) -> None:
    assert shell(f"archcalc {line}", folder).returncode == 0


def test_archcalc_alone_says_what_to_type_first(run: Run) -> None:
    shown = run()
    assert (shown.code, shown.err) == (0, "")
    assert "archcalc fit llama-3.1-8b --gpu 4090  does it fit my card?" in shown.out
    assert "archcalc --help" in shown.out and len(shown.out.splitlines()) < 20


def test_commands_are_listed_by_what_they_are_for(run: Run) -> None:
    """First of all what needs no command."""
    shown = run("--help").out
    assert shown.startswith("Usage: archcalc MODEL\n")
    headings = [line for line in shown.splitlines() if line in GROUPS]
    assert headings == [group for group in GROUPS if group != OTHERS]
    files = shown.partition(f"{GROUPS[-2]}\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  (\w+)", files, re.MULTILINE) == ["presets", "show", "init", "schema"]


def test_a_command_without_help_of_its_own_is_listed_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands.module("gpus"), "HELP", Help())
    assert run("--help").out.partition(f"{OTHERS}\n")[2].startswith("  gpus ")
    assert "Examples:" not in run("gpus", "--help").out


@pytest.mark.parametrize("command", ["fit", "memory"])
def test_help_shows_the_first_options_in_a_screen_and_a_half(run: Run, command: str) -> None:
    brief, full = run(command, "--help").out, run(command, "--help-all").out
    assert len(brief.splitlines()) <= 60 and max(map(len, brief.splitlines())) <= 80
    for flag in (*FIRST, *AND_THESE):
        assert f"--{flag} " in brief
    rest = [flag_of(name) for name, one in options_of(command) if not one.first]
    assert not set(rest) & set(brief.split()) and set(rest) < set(full.split())
    left_out = len(re.findall(r"^  -", full, re.MULTILINE)) - len(re.findall(r"^  -", brief, re.MULTILINE))
    assert f"archcalc {command} --help-all  in full, with {left_out} more options" in brief


def test_options_are_listed_by_question(run: Run) -> None:
    shown = run("memory", "--help-all").out
    headings = [line.removesuffix(":") for line in shown.splitlines() if line.removesuffix(":") in QUESTIONS.values()]
    assert headings == list(QUESTIONS.values())
    output = shown.partition(f"\n{OUTPUT}:\n")[2]
    assert all(option in output for option in ("--timeline", "--format", "--notes", "--expect"))


def test_sentences_stand_in_one_column(run: Run) -> None:
    """Of the whole page, at every width."""
    for columns in (60, 80, 140):
        lines = run("fit", "--help-all", columns=columns).out.partition("\nModel:\n")[2].splitlines()
        begins = {len(found[0]) for line in lines if (found := re.match(r"  -[^A-Z ]*(?: [^ ]+)?  +(?=[A-Z])", line))}
        assert len(begins) == 1


@pytest.mark.parametrize("columns", ["1", "19", "30"])
def test_help_is_laid_out_for_any_terminal(run: Run, columns: str) -> None:
    assert all(run(*asked, columns=int(columns)).code == 0 for asked in ([], ["--help"], ["fit", "--help-all"]))


def test_help_is_coloured_where_that_is_wanted_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in ([], ["--help"], ["fit", "--help"]):
        monkeypatch.delenv("FORCE_COLOR", raising=False)
        plain = run(*asked).out
        assert "\x1b" not in plain
        monkeypatch.setenv("FORCE_COLOR", "1")
        coloured = run(*asked).out
        assert "\x1b[1m" in coloured and re.sub(r"\x1b\[\d+m", "", coloured) == plain
        monkeypatch.setenv("NO_COLOR", "1")
        assert run(*asked).out == plain
        monkeypatch.delenv("NO_COLOR")


def test_help_all_of_a_command_that_has_no_more_is_its_help(run: Run) -> None:
    assert run("gpus", "--help-all").out == run("gpus", "--help").out
    assert "--help-all" not in run("gpus", "--help").out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fit gpt2 --gup 4090", "error: --gup: no such option\n  did you mean --gpu"),
        (
            "memory gpt2 --batch",
            "error: option '--batch' requires an argument\n  `archcalc memory --help` lists its options",
        ),
        ("gpus --help-al", "did you mean --help"),
        ("memory gpt2 --weigths int4", "did you mean --weights"),
        ("gpt2 --gpu 4090", "`archcalc fit --help` and `archcalc memory --help` list the options of a run"),
        (
            "gpt2 fit --gpu 4090",
            "error: fit: the command stands before the model\n  write `archcalc fit gpt2 --gpu 4090`",
        ),
        ("prams gpt2", "error: no command, model or file is called prams\n  did you mean params?"),
        ("fitt", "did you mean fit?"),
        ("--frobnicate", "`archcalc --help` lists its options"),
        ("compare", "`archcalc compare --help` lists its options"),
        ("plot gpt2", "error: --x: missing\n  such as `archcalc plot llama-3.1-8b --x "),
        ("init", "error: FILE: missing\n  such as `archcalc init model.yaml`\n  `archcalc init --help` lists"),
    ],
)
def test_a_mistake_is_one_message_with_the_right_help(run: Run, line: str, said: str) -> None:
    answer = run(*line.split())
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err and answer.err.count("error:") == 1


def test_the_word_help_is_help(run: Run) -> None:
    """As with git and cargo."""
    assert run("help").out == run("--help").out
    assert run("help", "fit").out == run("fit", "--help").out


@pytest.mark.parametrize("command", commands.names())
def test_a_default_is_told_where_there_is_one(run: Run, command: str) -> None:
    assert "Default: ." not in run(command, "--help-all").out


@pytest.mark.parametrize("command", ["plot", "init"])
def test_what_is_missing_is_shown_in_an_example(run: Run, command: str) -> None:
    arguments = {"plot": ["gpt2"]}.get(command, [])
    first = next(iter(commands.help_of(command).examples))
    assert f"missing\n  such as `archcalc {first}`" in run(command, *arguments).err


@pytest.mark.parametrize("typed", ["", "fit", "params"])
def test_a_name_in_pieces_is_put_together(run: Run, typed: str) -> None:
    """With all that follows it."""
    answer = run(*typed.split(), "llama", "3.1", "8b", "--seq", "4k")
    whole = " ".join(["archcalc", *typed.split(), "llama-3.1-8b", "--seq", "4k"])
    assert (answer.code, f"write `{whole}`" in answer.err) == (2, True)


def test_words_that_are_no_name_together_are_left_alone(run: Run) -> None:
    assert "unexpected extra argument" in run("params", "gpt2", "xl").err
    assert "is one word" not in run("params", "zebra", "8b").err
