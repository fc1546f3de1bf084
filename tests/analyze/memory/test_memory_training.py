"""Memory of training: recipes, accumulation, losses, recompute, and that parts add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.analyze.memory.answer import Memory
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from conftest import Run

N = 124_439_808  # GPT-2 small
KINDS = ("none", "selective", "full")  # of activation checkpointing


@pytest.mark.parametrize(
    ("precision", "bytes_each"),
    [
        ("fp32", {"weights": 4, "master": 0, "gradients": 4, "optimizer": 8}),
        ("bf16", {"weights": 2, "master": 0, "gradients": 2, "optimizer": 4}),
        ("mixed", {"weights": 4, "master": 0, "gradients": 4, "optimizer": 8}),
        ("master", {"weights": 2, "master": 4, "gradients": 2, "optimizer": 8}),
        ("autocast", {"weights": 4, "master": 0, "gradients": 4, "optimizer": 8}),
        ("fp8", {"weights": 2, "master": 4, "gradients": 2, "optimizer": 8}),
    ],
)
def test_a_recipe_is_so_many_bytes_a_parameter(precision: str, bytes_each: dict[str, int]) -> None:
    """With AdamW's two states."""
    report = load("gpt2").memory(mode="train", precision=precision, optimizer="adamw", batch=1, seq=16)
    assert report.states == {kind: each * N for kind, each in bytes_each.items()}


def test_autocast_keeps_16_bit_copies_of_the_weights() -> None:
    """Of every matrix that is multiplied with, the tied table too, until its backward pass; of biases of linear layers
    until the loss is there."""
    matrices = 12 * (4 * 768 * 768 + 2 * 768 * 3072) + 50257 * 768
    biases = 12 * (3 * 768 + 768 + 3072 + 768)
    report = load("gpt2").memory(mode="train", precision="autocast", batch=1, seq=1024)
    weights = [instant.parts["weights"] for instant in report.instants if instant.phase in ("loss", "backward")]
    assert max(weights) == 4 * N + 2 * (matrices + biases)
    assert weights[-1] == 4 * N


def test_accumulated_gradients_stand_from_the_start() -> None:
    """One micro-batch frees them behind the step; with several the fullest instant has them all."""
    one, four = (load("gpt2").memory(mode="train", batch=8, accumulate=number) for number in (1, 4))
    assert one.peak.phase == "backward"
    assert (one.parts["gradients"], four.parts["gradients"]) == (0, 4 * N)
    assert four.total_bytes - one.total_bytes == 4 * N


def test_a_loss_in_pieces_holds_one_piece_of_logits() -> None:
    """An estimate, and said to be one."""
    whole, pieces = (load("gpt2").memory(mode="train", loss_chunks=chunks) for chunks in (1, 8))
    logits = [next(i for i in report.instants if i.phase == "loss").parts["logits"] for report in (whole, pieces)]
    assert logits[1] <= logits[0] // 8 + 16
    assert any("chunked" in words for words in pieces.estimates)
    assert not whole.estimates


def test_16_bit_training_computes_its_loss_in_fp32() -> None:
    """Log-probabilities, and going back the gradients of both steps, of 1024 × 50257 four bytes each."""
    report = load("gpt2").memory(mode="train", code="plain", precision="bf16", batch=1, seq=1024)
    assert report.peak.phase == "backward"
    assert report.parts["logits"] == 3 * 4 * 1024 * 50257 + 8 * 1024 + 4


def test_recompute_trades_activations_for_work() -> None:
    """Whole blocks keep only what enters each; attention's core keeps all but the scores and what follows of them."""
    model = load("gpt2", set=["dropout=0"])
    asked: dict[str, Any] = {"mode": "train", "code": "plain", "attention": "eager", "batch": 4}
    reports = (model.memory(**asked, recompute=kind) for kind in KINDS)
    none, selective, full = (report.rows[0].parts["activations"] for report in reports)
    assert none - selective == 4 * 12 * (4 * 12 * 1024 * 1024)
    blocks = 12 * 4 * 4 * 1024 * 768
    around = 4 * 4 * 1024 * (2 * 768 + 2) + 8 * (4 * 1024 + 1024)
    assert full == blocks + around + 1024 * 1024  # ids and places, the final norm, the head's input, one mask


@pytest.mark.parametrize("change", ["decoder=13", "d_model=780", "ffn.width=4096", "vocab=60000"])
def test_a_larger_model_never_needs_less(change: str) -> None:
    """In training as in inference."""
    small, large = load("gpt2"), load("gpt2", set=[change])
    for mode in ("train", "infer"):
        assert small.memory(mode=mode, seq=128).total_bytes < large.memory(mode=mode, seq=128).total_bytes


@pytest.mark.parametrize("options", [{}, {"recompute": "full"}, {"dp": 4, "zero": 3}, {"lora": 8}])
def test_more_tokens_never_need_less(options: dict[str, Any]) -> None:
    """Batch and length."""
    ask = Memory(load("gpt2"), mode="train", **options)
    for batch, seq in [(1, 8), (1, 512), (4, 512)]:
        assert ask.total(batch, seq) <= ask.total(batch + 1, seq)
        assert ask.total(batch, seq) <= ask.total(batch, seq + 1)


def test_a_thousand_blocks_take_what_one_takes_a_thousand_times() -> None:
    """What is followed through a few runs stands for all: doubling the blocks adds what the first doubling added."""
    sizes = [load("gpt2", set=[f"decoder={n}"]).memory(mode="train", batch=2).total_bytes for n in (250, 500, 1000)]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


@pytest.mark.parametrize("name", ["gpt2", "textbook", "bert-base", "vit-b-16", "linear-autoencoder", "seq2seq"])
def test_parts_add_up_for_every_family(run: Run, name: str) -> None:
    """And rows add up to their parents."""
    record = run("memory", name, "--mode", "train", "--batch", "2", "--format", "json").json
    assert sum(record["parts"].values()) == record["total_bytes"]
    assert record["peak"]["phase"] in ("forward", "loss", "backward", "step")
    whole, *below = record["rows"]
    top = [row for row in below if "." not in row["path"]]
    assert whole["optimizer"] == sum(row["optimizer"] for row in top) == record["states"]["optimizer"]


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["--precision", "fp16"], "--precision: no training precision called fp16"),
        (["--weights", "nf4"], "--weights: quantised weights cannot be trained"),
        (["--lora-targets", "q"], "--lora-targets: needs --lora RANK"),
        (["--freeze", "encoder"], "--freeze: no layer is called encoder"),
        (["--overhead", "lots"], "--overhead"),
    ],
)
def test_a_users_mistake_is_told(run: Run, arguments: list[str], fact: str) -> None:
    """Exit code 2 and one message."""
    answer = run("memory", "gpt2", "--mode", "train", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert fact in answer.err


def test_recurrent_nets_have_no_blocks_to_recompute() -> None:
    """An option about what is not there is refused."""
    with pytest.raises(InputError, match="no blocks to recompute"):
        load("seq2seq").memory(mode="train", recompute="full")


def test_the_timeline_is_drawn(run: Run) -> None:
    """Forward, loss, backward, step, each with its fullest instant."""
    out = run("memory", "gpt2", "--mode", "train", "--timeline").out
    drawn = out.partition("timeline")[2].splitlines()
    assert [line for line in drawn if line in ("forward", "loss", "backward", "step")] == [
        "forward",
        "loss",
        "backward",
        "step",
    ]
    assert "of the peak" in drawn[0]


@pytest.mark.parametrize("optimizer", ["adamw", "adamw-fused", "adamw-for-loop", "adafactor", "lion"])
@pytest.mark.parametrize("model", ["textbook", "gemma-3-1b"])
def test_an_update_of_very_many_tensors_needs_what_it_needs_one_by_one(
    model: str, optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a bound equal layers are folded, which changes no byte of the tensors."""
    parts = load(model).memory(mode="train", optimizer=optimizer, overhead=0).parts
    monkeypatch.setattr("archcalc.simulate.passes.updates.MOST_TENSORS", 0)
    assert load(model).memory(mode="train", optimizer=optimizer, overhead=0).parts == parts
