"""The sizing exercise that archcalc is built around: every figure of its solution, by command line and by API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc

if TYPE_CHECKING:
    from conftest import Run

VOCAB, D_MODEL, HEADS, HEAD_DIM, FFN, ENCODERS, DECODERS = 30000, 1024, 4, 192, 512, 12, 8
EMBEDDING = 30000 * 1024 + 1024
ENCODER_BLOCK = 4 * 3 * (1024 * 192 + 192) + (768 * 1024 + 1024) + 2 * (2 * 1024) + 1_050_112
DECODER_BLOCK = 2 * (4 * 3 * (1024 * 192 + 192) + (768 * 1024 + 1024)) + 3 * (2 * 1024) + 1_050_112
FC = 1024 * 30000 + 30000

PARAMETERS = [
    ("source_embedding", "30000 × 1024 + 1024", 30_721_024),
    ("target_embedding", "30000 × 1024 + 1024", 30_721_024),
    ("encoder.blocks.attention.q_head", "1024 × 192 + 192", 196_800),
    ("encoder.blocks.attention.k_head", "1024 × 192 + 192", 196_800),
    ("decoder.blocks.cross.v_head", "1024 × 192 + 192", 196_800),
    ("encoder.blocks.attention.heads", "4 × 3 × (1024 × 192 + 192)", 2_361_600),
    ("encoder.blocks.attention.out", "768 × 1024 + 1024", 787_456),
    ("encoder.blocks.attention_norm", "2 × 1024", 2_048),
    ("encoder.blocks.ffn", "(1024 × 512 + 512) + (512 × 1024 + 1024)", 1_050_112),
    ("encoder.blocks", "3,149,056 + 2 × 2,048 + 1,050,112", 4_203_264),
    ("encoder", "12 × 4,203,264", 50_439_168),
    ("decoder.blocks", "2 × 3,149,056 + 3 × 2,048 + 1,050,112", 7_354_368),
    ("decoder", "8 × 7,354,368", 58_834_944),
    ("head", "1024 × 30000 + 30000", 30_750_000),
    ("model", "2 × 30,721,024 + 12 × 4,203,264 + 8 × 7,354,368 + 30,750,000", 201_466_160),
]

SHAPES = [
    ("source_embedding.one_hot", [32, 2048, 30000]),
    ("target_embedding.one_hot", [32, 2048, 30000]),
    ("source_embedding.tokens", [32, 2048, 1024]),
    ("source_embedding.positions", [32, 2048, 1024]),
    ("encoder.blocks.attention.head", [32, 2048, 192]),
    ("encoder.blocks.attention.scores", [32, 4, 2048, 2048]),
    ("encoder.blocks.attention.concat", [32, 2048, 768]),
    ("encoder.blocks.attention.out", [32, 2048, 1024]),
    ("encoder.blocks.attention_norm", [32, 2048, 1024]),
    ("encoder.blocks.ffn.in", [32, 2048, 512]),
    ("encoder.blocks.ffn.out", [32, 2048, 1024]),
    ("encoder.blocks.ffn_norm", [32, 2048, 1024]),
    ("decoder.blocks.attention.head", [32, 2048, 192]),
    ("decoder.blocks.attention.concat", [32, 2048, 768]),
    ("decoder.blocks.attention_norm", [32, 2048, 1024]),
    ("decoder.blocks.cross.head", [32, 2048, 192]),
    ("decoder.blocks.cross.scores", [32, 4, 2048, 2048]),
    ("decoder.blocks.cross_norm", [32, 2048, 1024]),
    ("decoder.blocks.ffn.in", [32, 2048, 512]),
    ("decoder.blocks.ffn_norm", [32, 2048, 1024]),
    ("head", [32, 2048, 30000]),
]


@pytest.mark.parametrize(("path", "worked", "each"), PARAMETERS)
def test_every_count_comes_out_with_its_working(run: Run, path: str, worked: str, each: int) -> None:
    """Each line of the solution is a row: its working, and its value."""
    row = _rows(run("params", "--format", "json").json)[path]
    assert (row["worked"], row["each"]) == (worked, each)


def test_the_working_by_names(run: Run) -> None:
    """`--names` writes the same working with the exercise's own words."""
    rows = _rows(run("params", "--format", "json", "--names").json)
    assert rows["encoder.blocks.attention.heads"]["worked"] == "heads × 3 × (d_model × head_dim + head_dim)"
    assert rows["source_embedding"]["worked"] == "vocab × d_model + d_model"


def test_the_totals(run: Run) -> None:
    """All of it, all but the output layer, and the two stacks alone."""
    answer = run("params", "--format", "json").json
    assert answer["total"] == 2 * EMBEDDING + 12 * ENCODER_BLOCK + 8 * DECODER_BLOCK + FC == 201_466_160
    assert answer["without_head"] == 2 * EMBEDDING + 12 * ENCODER_BLOCK + 8 * DECODER_BLOCK == 170_716_160
    assert answer["non_embedding"] == 12 * ENCODER_BLOCK + 8 * DECODER_BLOCK == 109_274_112
    assert answer["trainable"] == answer["active"] == 201_466_160
    assert answer["bytes"] == 4 * 201_466_160
    assert answer["buffers"] == 0


def test_the_terminal_answers_first(run: Run) -> None:
    """The total stands on the second line, exact and rounded, and the groups follow."""
    out = run("params").out
    assert out.splitlines()[1] == "201.5 M parameters · 201,466,160"
    for figure in ("61,442,048", "109,274,112", "30,750,000", "170,716,160", "× 12", "× 8"):
        assert figure in out


def test_the_terminal_shows_the_working(run: Run) -> None:
    """`--explain` prints each working of the solution as it is written there."""
    out = run("params", "--explain").out
    for _, worked, _ in PARAMETERS:
        assert worked in out


@pytest.mark.parametrize(("path", "shape"), SHAPES)
def test_every_signal_has_its_shape(run: Run, path: str, shape: list[int]) -> None:
    """`archcalc shapes --batch 32` is the exercise's table."""
    assert _rows(run("shapes", "--batch", "32", "--format", "json").json)[path]["shape"] == shape


def test_blocks_are_repeated_as_often_as_they_stand(run: Run) -> None:
    """12 encoder blocks and 8 decoder blocks, each traced once."""
    rows = _rows(run("shapes", "--format", "json").json)
    assert (rows["encoder.blocks.ffn.in"]["repeat"], rows["decoder.blocks.ffn.in"]["repeat"]) == (12, 8)


def test_the_api_gives_the_same_numbers() -> None:
    """What other programs import is what the command prints."""
    model = archcalc.load()
    assert model.params().total == 201_466_160
    assert {row.path: list(row.shape) for row in model.shapes(batch=32, seq=2048).rows}.items() >= dict(SHAPES).items()


def _rows(answer: dict[str, Any]) -> dict[str, Any]:
    return {row["path"]: row for row in answer["rows"]}
