"""Every option is declared once: the command line, Python's keywords and the checks follow from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
from option_keywords import FILE, text

import archcalc
from archcalc import InputError
from archcalc.run.code import code
from archcalc.run.commands import COMMANDS, WORK, Command
from archcalc.run.keywords import CompareKeywords, FitKeywords, FlopsKeywords, MemoryKeywords, PlotKeywords
from archcalc.run.option_words import MODES
from archcalc.run.options import Options, options_of
from archcalc.spec.option import GROUPS, RUN, Option, flag_of, option
from archcalc.spec.option_checks import fraction
from archcalc.spec.paths import data_root

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

KEYWORDS: dict[str, type] = {
    "flops": FlopsKeywords,
    "memory": MemoryKeywords,
    "fit": FitKeywords,
    "report": FitKeywords,
    "plot": PlotKeywords,
    "compare": CompareKeywords,
}
ONE_MODE = ("flops", "memory", "fit")
EVERY = [(command, name, one) for command in ONE_MODE for name, one in options_of(command)]
OTHER_NAMES = [(command, name, other, one) for command, name, one in EVERY for other in one.also]
OF_SOME_MODES = [each for each in EVERY if each[2].modes]


def needed_by(name: str, mode: str) -> dict[str, Any]:
    """What an option does nothing without."""
    needs: dict[str, dict[str, Any]] = {"lora_targets": {"lora": 2}, "sp": {"tp": 2}, "zero": {"dp": 2}}
    needs |= {"ep": {"dp": 2}, "reshard_after_forward": {"dp": 2, "zero": 3}}
    needs |= {"adapters": {"lora": 2}, "reference": {"method": "dpo"}, "rollout": {"method": "grpo"}}
    needs |= {"rollout_memory": {"method": "grpo", "rollout": "same"}}
    return needs.get(name, {}) | ({"lora": 2} if name == "weights" and mode == "train" else {})


def test_the_file_of_keywords_is_as_it_is_written() -> None:
    """`python tools/option_keywords.py` writes it, for type checkers and editors."""
    assert FILE.read_text(encoding="utf-8") == text()


@pytest.mark.parametrize("command", KEYWORDS)
def test_keywords_in_python_are_the_options(command: str) -> None:
    """So an editor completes them all, and nothing else."""
    assert set(get_type_hints(KEYWORDS[command])) == {name for name, _ in options_of(command)}


@pytest.mark.parametrize("command", ONE_MODE)
def test_help_shows_every_option_under_one_name(run: Run, command: str) -> None:
    words = run(command, "--help-all").out.split()
    for name, one in options_of(command):
        assert flag_of(name) in words
        assert not {flag_of(other) for other in one.also} & set(words)


def test_no_two_options_share_a_name() -> None:
    for command in ONE_MODE:
        names = [each for name, one in options_of(command) for each in (name, *one.also)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(("command", "name", "other", "one"), OTHER_NAMES)
def test_what_other_tools_call_it_is_accepted(command: str, name: str, other: str, one: Option) -> None:
    mode = one.modes[0] if one.modes else COMMANDS[command].mode
    asked = {"mode": mode, **needed_by(name, mode)}
    value = one.example
    assert Options.of(command, {**asked, other: value}) == Options.of(command, {**asked, name: value})


@pytest.mark.parametrize(
    ("others", "ours"),
    [
        ("--tensor-parallel-size 2 --max-model-len=4k", "--tp 2 --context 4000"),
        ("--kv-cache-dtype fp8 --dtype fp16 --batch-size 3", "--kv-dtype fp8 --precision fp16 --batch 3"),
    ],
)
def test_and_on_the_command_line(run: Run, others: str, ours: str) -> None:
    expected = run("memory", "tinyllama-1.1b", *ours.split())
    assert expected.code == 0
    assert run("memory", "tinyllama-1.1b", *others.split()).out == expected.out


def test_one_option_under_two_names_is_refused() -> None:
    with pytest.raises(InputError, match="tp and tensor_parallel_size are one option, and both are given"):
        Options.of("memory", {"tp": 2, "tensor_parallel_size": 4})


@pytest.mark.parametrize(("command", "name", "one"), OF_SOME_MODES)
def test_an_option_without_effect_in_a_mode_is_refused(command: str, name: str, one: Option) -> None:
    for mode in MODES:
        asked = {"mode": mode, name: one.example, **needed_by(name, mode)}
        if mode in one.modes:
            Options.of(command, asked)
            continue
        with pytest.raises(InputError, match=f"has no effect with --mode {mode}"):
            Options.of(command, asked)


@pytest.mark.parametrize("command", ONE_MODE)
@pytest.mark.parametrize(
    "asked",
    [
        {"seq": "many"},
        {"batch": "0"},
        {"mode": "think"},
        {"recompute": "full", "mode": "prefill"},
        {"lora": "8", "freeze": "embedding", "mode": "train"},
        {"lora_targets": "q", "mode": "train"},
        {"weights": "nf4", "mode": "train"},
        {"weights": "q4_kk", "mode": "infer"},
        {"tp": "5", "mode": "train"},
        {"sp": True, "mode": "train"},
        {"context": "9", "seq": "8", "mode": "infer"},
        {"context": "9", "mode": "prefill"},
        {"context": "2000", "mode": "decode"},
        {"cp": "2", "mode": "train", "attention": "eager"},
    ],
    ids=str,
)
def test_a_mistake_is_told_in_the_same_words_everywhere(run: Run, command: str, asked: dict[str, Any]) -> None:
    """By Python, and by the command line with exit code 2."""
    model = archcalc.load("gpt2")
    call = (lambda **options: archcalc.fit(model, **options)) if command == "fit" else getattr(model, command)
    with pytest.raises(InputError) as refused:
        call(**asked)
    written = [each for name, value in asked.items() for each in (flag_of(name), value) if each is not True]
    answer = run(command, "gpt2", *written)
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {refused.value}\n")


@pytest.mark.parametrize(("theirs", "ours"), [("bfloat16", "bf16"), ("float16", "fp16"), ("float32", "fp32")])
def test_number_formats_go_by_the_names_of_pytorch_too(theirs: str, ours: str) -> None:
    model = archcalc.load("gpt2")
    assert model.memory(precision=theirs).total_bytes == model.memory(precision=ours).total_bytes
    assert model.flops(mode="decode", precision=theirs).record() == model.flops(mode="decode", precision=ours).record()


def test_help_has_a_heading_for_each_group_of_options(run: Run) -> None:
    shown = run("memory", "--help-all").out
    own, *_ = shown.partition("\nOutput:\n")[2].partition("\n\n")
    assert "--timeline" in own and "--tp" not in own
    parallel = shown.partition("\nParallelism:\n")[2].partition("\n\n")[0]
    assert "--tp N" in parallel and "--zero 0|1|2|3" in parallel and "--optimizer" not in parallel
    assert [line for line in shown.splitlines() if line.removesuffix(":") in GROUPS.values()] == [
        f"{heading}:" for heading in GROUPS.values()
    ]


@pytest.mark.parametrize(("name", "folder"), [("engine", "engines"), ("optimizer", "optimizers"), ("code", "code")])
def test_help_names_every_value_that_there_is_a_file_of(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, folder: str
) -> None:
    one = dict(options_of("memory"))[name]
    assert " ".join(one.help.split()) in " ".join(run("memory", "--help-all").out.split())
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "mine-of-all.yaml").touch()
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    assert "mine-of-all" in one.help and all(file.stem in one.help for file in (data_root() / folder).iterdir())


def test_help_of_precision_names_every_word_of_training() -> None:
    """They are in files that help does not read."""
    shown = dict(options_of("memory"))["precision"].help
    assert f" Training: {', '.join(dict(code('plain').precisions))}. " in shown


@pytest.mark.parametrize("incomplete", ["", "p"])
def test_a_shell_completes_what_there_is(incomplete: str) -> None:
    known = dict(options_of("memory"))
    assert known["mode"].completed("pre") == ["prefill"]
    assert "plain" in known["engine"].completed(incomplete) and "vllm" not in known["engine"].completed("p")
    assert known["batch"].completed(incomplete) == []


@dataclass(frozen=True)
class EnergyOptions(Options):
    """Those of a command that archcalc does not have."""

    efficiency: float | None = option("Share of the power that reaches the chip.", fraction, about=("energy",))


def test_a_new_command_has_its_own_options_and_those_of_its_questions() -> None:
    energy = Command("energy", (RUN, WORK, "energy"), mode="prefill")
    asked = EnergyOptions.of(energy, {"efficiency": "80%", "causal": "half", "batch_size": "2k"})
    assert (asked.mode, asked.efficiency, asked.causal, asked.sizes.batch) == ("prefill", 0.8, "half", 2000)
    with pytest.raises(InputError, match="no option called overhead"):
        EnergyOptions.of(energy, {"overhead": 0})
    with pytest.raises(InputError, match="no option called efficiency"):
        Options.of("flops", {"efficiency": 1})
