"""word2vec: two tables, counted by hand and compared with PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.loading import load
from archcalc.verify.check import verify

if TYPE_CHECKING:
    from conftest import Run, Write


def spec(**changes: Any) -> dict[str, Any]:
    return {"family": "word2vec", "kind": "skip-gram", "vocab": 11, "embedding": 4, "window": 2, **changes}


NEGATIVE = {"output": "negative", "negatives": 3}


def test_the_vectors_of_google_news() -> None:
    """3 million words and phrases of 300 numbers, in the table that is distributed and in the one that scores."""
    rows = {row.path: row.total for row in load("word2vec-google-news").params().rows}
    assert rows["embedding"] == rows["output"] == 3_000_000 * 300 == 900_000_000


@pytest.mark.parametrize("kind", ["skip-gram", "cbow"])
@pytest.mark.parametrize("output", [{}, NEGATIVE])
def test_it_equals_pytorch_and_has_two_tables_of_vectors(kind: str, output: dict[str, Any]) -> None:
    """Neither the window nor the number of drawn words changes the count."""
    model = load(spec(kind=kind, **output))
    assert model.params().total == 2 * 11 * 4
    report = verify(model, model.workload(batch=3))
    assert report.ok, report.answer()


def test_drawn_words_cost_products_with_few_vectors_instead_of_all() -> None:
    """k + 1 of 11 words are scored: two FLOPs for each number of their vectors."""
    full, drawn = (load(spec(**output)).flops(batch=5).forward for output in ({}, NEGATIVE))
    assert (full, drawn) == (2 * 5 * 11 * 4, 2 * 5 * (3 + 1) * 4)


def test_cbow_averages_the_words_to_both_sides() -> None:
    shapes = {row.path: row.shape for row in load(spec(kind="cbow")).shapes(batch=5).rows}
    assert shapes["embedding.ids"] == (5, 2 * 2)
    assert shapes["embedding.mean"] == (5, 4)
    assert shapes["output"] == (5, 11)


TOP = "family: word2vec\nkind: cbow\nvocab: 9\nembedding: 3\n"
MISTAKES = {
    TOP.replace("kind: cbow\n", ""): "model.yaml:1: kind: missing",
    TOP.replace("vocab: 9\n", ""): "model.yaml:1: vocab: missing",
    TOP + "output: negative\n": "negatives: missing",
    TOP + "negatives: 3\n": "model.yaml:5: negatives: a softmax scores every word",
    TOP + "output: hierarchical\n": "'hierarchical' is not one of softmax, negative",
    TOP + "seq: 5\n": "model.yaml:5: seq: word2vec reads words with their window",
}


@pytest.mark.parametrize(("text", "told"), MISTAKES.items())
def test_a_mistake_is_told_with_its_line(run: Run, write: Write, text: str, told: str) -> None:
    answer = run("params", write(text))
    assert answer.code == 2
    assert told in answer.err


def test_there_is_nothing_to_decode() -> None:
    model = load("word2vec-cbow")
    with pytest.raises(archcalc.InputError, match="generates no tokens"):
        model.build(model.workload(mode="decode"))
