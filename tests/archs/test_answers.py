"""Heads beside each other, pooling by attention, tables of types, and what is kept and read by nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run, Write

D = 64
TEXT = """
vocab: 100
d_model: 64
heads: 4
ffn: 128
position: {kind: learned, length: 16}
encoder: 2
head: tied
"""
IMAGE = """
d_model: 64
heads: 4
ffn: 128
position: learned
embedding: {kind: patches, image: 32, patch: 8, tokens: 2}
encoder: 2
head: {kind: classifier, classes: 10, bias: true}
"""
ATTENTION, FFN = 4 * (D * D + D), (D * 128 + 128) + (128 * D + D)


@pytest.mark.parametrize(
    ("model", "change", "more"),
    [
        (TEXT, "head.beside={kind: classifier, classes: 2, bias: true, pooler: true}", D * D + D + 2 * D + 2),
        (TEXT, "head.beside={kind: none, pooler: true}", D * D + D),
        (TEXT, "embedding.types=[2, 3]", 2 * D + 3 * D),
        (TEXT, "spare={old: [3, 4], older: 5}", 3 * 4 + 5),
        (TEXT, "ffn.bias=[out]", -2 * 128),
        (TEXT, "position={kind: rope, length: 16, stored: true}", 16 * 16 - 16 * D),  # a head is 16 wide
        (IMAGE, "head.beside={kind: classifier, classes: 3, pool: second}", 3 * D + 3),
        (IMAGE, "head.pool=patches", 0),
        (IMAGE, "head.norm=true", 2 * D),
        (IMAGE, "head.project=24", D * 24 + 24 + 10 * 24 - 10 * D),
        (IMAGE, "head.layers=weighted", 3),  # two blocks, and the embedding
        (IMAGE, "head.pool=probe", D + ATTENTION + FFN + 2 * D),
    ],
)
def test_each_counts_what_it_adds(run: Run, write: Write, model: str, change: str, more: int) -> None:
    file = write(model)
    plain, changed = (run("params", file, *sets, "--format", "json").json for sets in ((), ("--set", change)))
    assert changed["total"] - plain["total"] == more


@pytest.mark.parametrize(
    ("model", "change", "fact"),
    [
        (TEXT, "head.beside={kind: lm}", "a second head must be a classifier"),
        (TEXT, "head.beside={kind: classifier, classes: 2, pool: patches}", "there are no patches to classify"),
        (TEXT, "head={kind: tied, transform: 48}", "a tied head takes the embedding's 64 numbers, not 48"),
        (TEXT, "ffn.bias=[up]", "expected true, false or a list of in, out"),
        (TEXT, "embedding.types=[2, -1]", "expected a number from 0"),
        (
            IMAGE,
            "head={kind: classifier, classes: 2, pool: probe, pooler: true}",
            "pool: probe replaces every other way of pooling",
        ),
    ],
)
def test_what_makes_no_sense_is_told(run: Run, write: Write, model: str, change: str, fact: str) -> None:
    answer = run("params", write(model), "--set", change)
    assert answer.code == 2
    assert fact in answer.err


def test_a_second_head_is_trained_too(run: Run, write: Write) -> None:
    """Its classes take a forward pass and twice as much backwards."""
    beside = "head.beside={kind: classifier, classes: 3, bias: true, pool: class}"
    file = write(TEXT)
    plain, both = (run("flops", file, *sets, "--format", "json").json for sets in ((), ("--set", beside)))
    assert both["forward"] - plain["forward"] == 2 * 3 * D
    assert both["backward"] - plain["backward"] == 2 * 2 * 3 * D
