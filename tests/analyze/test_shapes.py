"""`archcalc shapes`: every signal that a solution sheet lists, under its name, and parts by what they read and give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from torch import nn

import archcalc

if TYPE_CHECKING:
    from conftest import Run

BLOCK = "decoder.blocks"
FAMILIES = (
    "textbook",
    "gpt2",
    "vit-b-16",
    "mixtral-8x7b",
    "deepseek-v2-lite",
    "mamba-130m",
    "sentiment-lstm",
    "rnnsearch",
    "luong",
    "linear-autoencoder",
    "recursive-autoencoder",
)


def rows(name: str, **options: Any) -> dict[str, Any]:
    return {row.path: row for row in archcalc.load(name).shapes(**options).rows}


@pytest.mark.parametrize(
    ("path", "signal", "shape"),
    [
        ("source_embedding.one_hot", "one hot", (32, 2048, 30000)),
        (f"{BLOCK}.attention.weights", "softmax weights", (32, 4, 2048, 2048)),
        (f"{BLOCK}.attention.head", "each head's output", (32, 2048, 192)),
        (f"{BLOCK}.attention.concat", "heads concatenated", (32, 2048, 768)),
        (f"{BLOCK}.cross.out", "out", (32, 2048, 1024)),
        (f"{BLOCK}.cross_norm", "Add & Norm", (32, 2048, 1024)),
        (f"{BLOCK}.ffn.in", "in", (32, 2048, 512)),
        ("head", "head", (32, 2048, 30000)),
    ],
)
def test_the_signals_of_the_sizing_exercise(path: str, signal: str, shape: tuple[int, ...]) -> None:
    row = rows("textbook")[path]
    assert (row.title, row.shape) == (signal, shape)


@pytest.mark.parametrize("command", ["params", "shapes"])
def test_attention_is_called_masked_where_it_has_a_causal_mask(run: Run, command: str) -> None:
    """In the decoder alone; what reads the encoder is cross-attention."""
    lines = [line.strip().split("  ")[0] for line in run(command).out.splitlines()]
    assert [line for line in lines if line.endswith("attention")] == [
        "self-attention",
        "masked self-attention",
        "cross-attention",
    ]
    assert "local: masked self-attention" in run("shapes", "gemma-2-2b").out


def test_a_heads_output_is_as_wide_as_its_values() -> None:
    """Not as its queries."""
    shapes = {row.path: row.shape for row in archcalc.load("gpt2", set=["attention.v_dim=128"]).shapes(seq=8).rows}
    assert shapes[f"{BLOCK}.attention.q"] == (1, 8, 12 * 64)
    assert shapes[f"{BLOCK}.attention.head"] == (1, 8, 128)
    assert shapes[f"{BLOCK}.attention.concat"] == (1, 8, 12 * 128)


@pytest.mark.parametrize(
    ("name", "path", "shape"),
    [
        ("rnnsearch", "decoder.step.attention.scores.tanh", (80, 50, 1000)),
        ("rnnsearch", "decoder.step.attention.scores", (80, 50)),
        ("rnnsearch", "decoder.step.attention.weights", (80, 50)),
        ("rnnsearch", "decoder.step.attention.context", (80, 2000)),
        ("mixtral-8x7b", f"{BLOCK}.moe.router.probabilities", (1, 2048, 8)),
        ("mixtral-8x7b", f"{BLOCK}.moe.router.chosen", (1, 2048, 2)),
        ("gpt-oss-20b", "decoder.blocks.attention-moe.attention.weights", (1, 64, 2048, 2048)),
        ("deepseek-v2-lite", "decoder.attention-ffn.attention.head", (1, 2048, 128)),
        ("vit-b-16", "embedding.patches", (1, 196, 16 * 16 * 3)),
    ],
)
def test_signals_of_other_families(name: str, path: str, shape: tuple[int, ...]) -> None:
    assert rows(name)[path].shape == shape


@pytest.mark.parametrize("name", FAMILIES)
def test_no_heading_stands_alone(name: str) -> None:
    """At any depth: what is closed has a shape, and what has none has lines below it."""
    for depth in (1, 2, 3, None):
        lines = archcalc.load(name).shapes(depth=depth).table().lines
        for line, below in zip(lines, [*lines[1:], None], strict=True):
            assert line.cells[1] is not None or (below and below.depth == line.depth + 1), (depth, line)


def test_a_closed_part_shows_what_it_reads_and_gives(run: Run) -> None:
    """The decoder reads the target and the encoder's output; constants such as masks and angles are no input."""
    source, *_, decoder, head = archcalc.load("textbook").shapes(depth=1).table().lines
    assert source.cells == ("source embedding", (32, 2048, 1024), "from 32 × 2048")
    whole = "32 × 2048 × 1024"
    assert decoder.cells == ("decoder", (32, 2048, 1024), f"from {whole} and {whole}")
    assert head.cells == ("head", (32, 2048, 30000), "logits")
    lines = archcalc.load("llama-3-8b").shapes(seq=9, depth=2).table().lines
    assert ("block × 32", (1, 9, 4096), "from 1 × 9 × 4096") in [line.cells for line in lines]
    answer = run("shapes", "llama-3-8b", "--seq", "9", "--depth", "2", "--symbolic").out
    assert "from batch × seq × d_model" in answer


def test_the_record_has_every_part_with_its_ends(run: Run) -> None:
    parts = {part["path"]: part for part in run("shapes", "sentiment-lstm", "--format", "json").json["parts"]}
    step = parts["layer_1.direction.cell"]
    assert (step["calls"], step["output"]["shape"]) == (100, [32, 128])
    assert parts["layer_2"]["inputs"] == [{"shape": [32, 100, 256], "dims": ["batch", "seq", "directions·hidden"]}]


def test_the_orientation_of_parameters_is_said(run: Run) -> None:
    """As PyTorch stores them; Keras' kernels lie the other way round."""
    linear = nn.Linear(784, 32)
    found = {row.path: row for row in archcalc.load("linear-autoencoder").shapes(parameters=True).rows}
    assert found["encoder.weight"].shape == tuple(linear.weight.shape) == (32, 784)
    assert found["encoder.weight"].note == "parameter, out × in"
    keras = {row.path: row for row in archcalc.load("keras-gru").shapes(parameters=True).rows}
    assert keras["layer_1.cell.kernel"].note == "parameter, in × out"
    experts = {row.path: row for row in archcalc.load("mixtral-8x7b").shapes(parameters=True).rows}
    assert experts[f"{BLOCK}.moe.experts.up.weight"].note == "parameter, experts × out × in"
    assert "y = x·Wᵀ + b" in run("shapes", "gpt2", "--parameters").out
    assert "y = x·Wᵀ + b" not in run("shapes", "gpt2").out
