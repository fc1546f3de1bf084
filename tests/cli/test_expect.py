"""`--expect N`: the figure, another figure, another convention, or none. The numbers are worked out here by hand."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

GPT2 = 124_439_808
BLOCK = 12 * 768 * 768  # matrices of one block of GPT-2
TOKEN = 2 * (12 * BLOCK + 768 * 50_257)  # FLOPs of a token of GPT-2, without scores
SCORES = 12 * 2 * 2 * 1024 * 1024 * 768  # of the forward pass
LLAMA = 8_030_261_248
CACHE = 2 * 32 * 8 * 128 * 2  # bytes of one token of Llama 3 8B in bf16

YES = [
    ("params", "gpt2", "124M"),
    ("params", "gpt2", f"{GPT2:,}"),
    ("params", "llama-2-7b", "7B"),
    ("params", "resnet-50", "25.6M"),
    ("flops", "gpt2 --mode prefill", str(1024 * TOKEN + SCORES)),
    ("flops", "gpt2", "875G"),
    ("flops", "gpt2", "292G"),
    ("memory", "llama-3-8b --mode infer", "17.1 GB"),
]
OTHERWISE = [  # command, model, expected, convention
    ("params", "gpt2", "163M", "with an output layer of its own, not tied"),
    ("params", "llama-3-8b", str(LLAMA - 128_256 * 4096), "without output layer"),
    ("params", "llama-3-8b --set head=tied", "8.03B", "with an output layer of its own, not tied"),
    ("params", "gpt2", str(12 * BLOCK), "matrices of the blocks"),
    ("params", "gpt2", str(GPT2 - 1024 * 768), "position table forgotten"),
    ("params", "gpt2", "124.48M", "with the vocabulary padded to 50,304"),
    ("params", "gpt2", "498MB", "bytes in fp32"),
    ("params", "gpt2", "475MB", "bytes in fp32"),
    ("params", "gpt2", "249MB", "2 bytes each"),
    ("params", "gpt2", "117M", "published elsewhere"),
    ("params", "mixtral-8x7b", "12.9B", "active per token"),
    ("params", "deepseek-v3", "671,026,419,200", "with buffers"),
    ("params", "deepseek-v3", "682.6B", "with multi-token prediction"),
    ("params", "textbook", str(201_466_160 - 8 * 3_149_056), "cross-attention forgotten"),
    ("params", "gpt2", str(GPT2 - 1024 * 768 - 25 * 768), "RMS norm for layer norm and position table forgotten"),
    ("flops", "gpt2", str(512 * TOKEN + SCORES // 2), "MACs: FLOPs"),
    ("flops", "gpt2", str(2 * (1024 * TOKEN + SCORES)), "backward"),
    ("flops", "gpt2", str(TOKEN + SCORES // 1024), "per token"),
    ("flops", "resnet-50 --mode prefill", "4.09G", "MACs: FLOPs"),
    ("flops", "gpt2 --mode prefill", str(1024 * TOKEN + SCORES // 2), "causal half"),
    ("flops", "gpt2 --mode prefill", str(1024 * TOKEN), "without scores"),
    ("flops", "gpt2 --mode prefill", "252.99G", "without scores"),
    ("flops", "gpt2", str(6 * GPT2 * 1024), "6ND"),
    ("flops", "gpt2 --batch 8", str(3 * (1024 * TOKEN + SCORES)), "one sample: training step"),
    ("flops", "llama-3-8b --mode decode", "15.0 GB", "weights bytes"),
    ("memory", "llama-3-8b --mode infer --batch 4", str(4 * 2048 * CACHE), "kv_cache bytes"),
    ("memory", "llama-3-8b --mode infer --batch 4", "256 MiB", "one sequence"),
    ("memory", "llama-3-8b --mode infer --batch 4", "128 KiB", "one token"),
    ("memory", "llama-3-8b --mode infer --batch 4", "4 GiB", "keys and values for every head"),
    ("memory", "llama-3-8b --mode infer", "32.1 GB", "4 bytes each"),
    ("memory", "llama-3-8b --mode infer", "16.06 GB", "weights bytes"),
    ("memory", "llama-3-8b --mode infer", "15.9 GB", "required bytes"),  # GiB
    ("memory", "gpt2 --mode train", "1.99 GB", "weights and states"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "model", "number"), YES)
def test_the_figure_itself_exits_with_0(run: Run, command: str, model: str, number: str) -> None:
    answer = run(command, *model.split(), "--expect", number, "--format", "json")
    assert (answer.code, answer.json["expect"]["verdict"]) == (0, "yes")


@pytest.mark.parametrize(("command", "model", "number", "convention"), OTHERWISE)
def test_another_convention_is_named(run: Run, command: str, model: str, number: str, convention: str) -> None:
    answer = run(command, *model.split(), "--expect", number, "--format", "json")
    assert (answer.code, answer.json["expect"]["verdict"]) == (1, "otherwise"), answer.json["expect"]
    assert convention in [one["name"] for one in answer.json["expect"]["conventions"]]


@pytest.mark.parametrize("command", ["params", "flops", "memory"])
def test_a_random_number_is_no_convention(run: Run, command: str) -> None:
    """And the nearest one is told."""
    draw = random.Random(command)
    for _ in range(3):
        number = draw.randint(10**11, 10**13)
        answer = run(command, "gpt2", "--expect", str(number), "--format", "json")
        assert (answer.code, answer.json["expect"]["verdict"]) == (1, "no")
        assert len(answer.json["expect"]["conventions"]) == 1


def test_the_answer_is_told_in_words(run: Run) -> None:
    yes = run("params", "gpt2", "--expect", "124M").out
    assert "expected 124M: yes, the number of parameters (124,439,808)" in yes
    told = " ".join(run("params", "gpt2", "--expect", "117M").out.split())
    assert "expected 117M: not the number of parameters (124,439,808)" in told
    assert "the paper's table 2" in told
    for form in ("markdown", "latex", "html"):
        assert "expected 163M" in run("params", "gpt2", "--expect", "163M", "--format", form).out


def test_every_published_number_is_known(run: Run) -> None:
    """Those of GPT-2's paper, which no count comes to."""
    for model, number in (("gpt2-medium", "345M"), ("gpt2-large", "762M"), ("gpt2-xl", "1542M")):
        found = run("params", model, "--expect", number, "--format", "json").json["expect"]
        assert found["conventions"][0]["name"] == "published elsewhere"


def test_further_tokens_are_counted_as_the_checkpoint_stores_them(run: Run) -> None:
    """DeepSeek-V3: a block of experts, a projection of 2·d to d, three norms, and a table and a head of its own."""
    width, block, vocab = 7168, 11_507_286_016, 129_280
    stored = 671_026_404_352 + block + 2 * width * width + 3 * width + 2 * vocab * width
    found = run("params", "deepseek-v3", "--expect", str(stored), "--format", "json").json["expect"]
    assert found["conventions"][0]["value"] == stored
    assert found["conventions"][0]["name"] == "with MTP and its own tables"


def test_what_is_no_number_is_one_message(run: Run) -> None:
    answer = run("params", "gpt2", "--expect", "banana")
    assert (answer.code, answer.out) == (2, "")
    assert "--expect: 'banana' is no number" in answer.err


def test_a_model_without_parameters_has_no_nearest_convention(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("family: network\ninput: 4\nlayers: [relu]\n")
    answer = run("params", str(tmp_path / "net.yaml"), "--expect", "7")
    assert (answer.code, answer.err) == (1, "") and "nearest" not in answer.out
