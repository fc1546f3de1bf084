"""Options that are numbers and still make no sense for the model or its sizes are refused, with what would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run, Write

TRAIN = ("gpt2", "--mode", "train", "--seq", "64")
NONSENSE: dict[str, list[tuple[str, ...]]] = {
    "--lora": [(*TRAIN, "--lora", "769"), (*TRAIN, "--lora", "4096", "--lora-targets", "all")],
    "--loss-chunks": [(*TRAIN, "--loss-chunks", "65"), (*TRAIN, "--loss-chunks", "1e15")],
    "--cp": [(*TRAIN, "--attention", "flash", "--cp", "65")],
    "--tp": [("gpt2", "--tp", "24")],
    "--zero": [(*TRAIN, "--zero", "4", "--dp", "2")],
    "offset": [("opt-125m", "--set", "position.offset=1000", "--set", "position.length=100")],
    "bits": [("gpt2", "--set", f"quantization={{quant_method: {name}, bits: 64}}") for name in ("gptq", "awq")],
    "groups": [("gpt2", "--set", "quantization={quant_method: gptq, bits: 4, group_size: 7}")],
}


CASES = [(word, one) for word, several in NONSENSE.items() for one in several]
ASKED = [("memory", *case) for case in CASES]
ASKED += [("fit", *case) for case in CASES if case[0] != "--tp"]  # fit looks for the number of GPUs itself


@pytest.mark.parametrize(("command", "word", "arguments"), ASKED)
def test_nonsense_is_refused(run: Run, command: str, word: str, arguments: tuple[str, ...]) -> None:
    gpu = ("--gpu", "24GiB") if command == "fit" else ()
    answer = run(command, *arguments, *gpu)
    assert (answer.code, word in answer.err) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [("--lora", "768"), ("--loss-chunks", "64"), ("--cp", "64", "--attention", "flash"), ("--lora", "16")],
)
def test_what_is_just_possible_is_counted(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("memory", *TRAIN, *arguments).code == 0


def test_a_small_router_does_not_forbid_adapters_of_all_layers(run: Run, write: Write) -> None:
    """Of eight rows, beside matrices of 64: every linear layer gets an adapter, as PEFT gives it one."""
    decoder = "decoder: {blocks: 1, pattern: [attention moe]}"
    spec = write(f"vocab: 10\nd_model: 64\nheads: 4\nmoe: {{experts: 8, top: 2, width: 64}}\n{decoder}\n")
    options = ("--mode", "train", "--seq", "16", "--lora-targets", "all")
    assert run("memory", spec, *options, "--lora", "16").code == 0
    assert run("memory", spec, *options, "--lora", "65").code == 2
