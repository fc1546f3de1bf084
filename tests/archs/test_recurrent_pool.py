"""Pooling over recurrent nets, one-hot inputs and location scores: counted against PyTorch and by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from archcalc.loading import load
from archcalc.verify.check import verify

if TYPE_CHECKING:
    from conftest import Run, Write


def classifier(pool: Any, **changes: Any) -> dict[str, Any]:
    sizes = {"vocab": 11, "embedding": 4, "cell": "gru", "hidden": 3, "bidirectional": True, "biases": "two"}
    return {"family": "recurrent", **sizes, "head": {"kind": "classifier", "classes": 5, "pool": pool}, **changes}


def total(spec: dict[str, Any]) -> int:
    return int(load(spec).params().total)


def shapes(spec: Any, **sizes: Any) -> dict[str, tuple[int, ...]]:
    return {row.path: row.shape for row in load(spec).shapes(**sizes).rows}


def equals_pytorch(spec: dict[str, Any], **sizes: Any) -> None:
    model = load(spec)
    report = verify(model, model.workload(**sizes))
    assert report.ok, report.answer()


# Pooling


class HierarchicalAttention(nn.Module):
    """One level of Yang et al. 2016, as PyTorch users write it."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.gru = nn.Embedding(20_000, 200), nn.GRU(200, 50, bidirectional=True, batch_first=True)
        self.word, self.context = nn.Linear(100, 100), nn.Linear(100, 1, bias=False)
        self.classes = nn.Linear(100, 5)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states, _ = self.gru(self.table(ids))
        weights = self.context(torch.tanh(self.word(states))).softmax(dim=1)
        answer: torch.Tensor = self.classes((weights * states).sum(dim=1))
        return answer


def test_attention_pooling_is_one_level_of_hierarchical_attention() -> None:
    """W, b and v of 10,200 parameters between a biGRU and its classifier; PyTorch's GRU has a second bias a gate."""
    reference = HierarchicalAttention()
    counted = sum(parameter.numel() for parameter in reference.parameters())
    assert load("attention-pooling-gru", set=["biases=two"]).params().total == counted
    assert counted - 2 * 3 * 50 == load("attention-pooling-gru").params().total == 4_086_005
    traced = shapes("attention-pooling-gru", batch=2, seq=7)
    assert traced["head.pool.weights"] == (2, 7, 1)
    assert traced["head"] == reference(torch.zeros(2, 7, dtype=torch.long)).shape


@pytest.mark.parametrize("kind", ["last", "mean", "sum", "max", "each"])
def test_pooling_without_weights_changes_no_count(kind: str) -> None:
    """The classifier reads one vector of both directions, or one at every position."""
    spec = classifier(kind)
    assert total(spec) == total(classifier("last"))
    assert shapes(spec, batch=2, seq=7)["head"] == ((2, 7, 5) if kind == "each" else (2, 5))
    equals_pytorch(spec, batch=2, seq=7)


@pytest.mark.parametrize(
    ("pool", "weights"),
    [
        ({"kind": "attention"}, 6),
        ({"kind": "attention", "width": 7}, 6 * 7 + 7),
        ({"kind": "attention", "width": 7, "bias": True}, 6 * 7 + 7 + 7),
    ],
)
def test_the_weights_of_attention_pooling(pool: dict[str, Any], weights: int) -> None:
    """v alone; or v, W and b inside the tanh."""
    assert total(classifier(pool)) - total(classifier("mean")) == weights
    equals_pytorch(classifier(pool), batch=2, seq=4)


def test_several_heads_and_several_poolings_stand_side_by_side() -> None:
    """Three sums of Lin et al. 2017, the mean and the last state: the classifier reads five vectors of 6."""
    spec = classifier(["mean", {"kind": "attention", "width": 7, "heads": 3}, "last"])
    assert shapes(spec, batch=2, seq=4)["head.pooled"] == (2, 5 * 6)
    assert total(spec) - total(classifier("last")) == 6 * 7 + 3 * 7 + 4 * 6 * 5
    equals_pytorch(spec, batch=2, seq=4)


def test_a_net_without_a_classifier_may_pool() -> None:
    """A sentence as one vector."""
    spec = classifier("max") | {"head": {"kind": "none", "pool": "max"}}
    assert shapes(spec, batch=2, seq=4)["head.max_pooled"] == (2, 6)
    equals_pytorch(spec, batch=2, seq=4)


def test_a_pooled_answer_has_no_decode_step(run: Run) -> None:
    """It reads all positions at once, even if no layer reads backwards."""
    one_way = ("--set", "bidirectional=false")
    answer = run("flops", "attention-pooling-gru", *one_way, "--mode", "decode")
    assert answer.code == 2
    assert "no decode step" in answer.err


# One-hot inputs


def test_min_char_rnn_by_hand() -> None:
    """Wxh, Whh, Why, bh and by of Karpathy's program, over 65 characters."""
    assert load("min-char-rnn").params().total == 100 * 65 + 100 * 100 + 65 * 100 + 100 + 65 == 23_165
    assert shapes("min-char-rnn", batch=2)["one_hot"] == (2, 25, 65)


def test_a_one_hot_vector_is_multiplied_like_any_other() -> None:
    """The first layer's matrix has a column for each token, and every one of them is read."""
    vectors = {"family": "recurrent", "input": 65, "cell": "rnn", "hidden": 100, "head": {"kind": "lm", "vocab": 65}}
    flops = [load(spec).flops(batch=1, seq=25).forward for spec in ("min-char-rnn", vectors)]
    assert flops[0] == flops[1]


def test_one_hot_tokens_of_an_encoder_and_a_decoder_equal_pytorch() -> None:
    """Decoding too."""
    sizes = {"vocab": 9, "embedding": "one-hot", "cell": "lstm", "hidden": 4, "encoder": {}, "decoder": {}}
    equals_pytorch({"family": "recurrent", **sizes, "attention": "general"}, batch=2, src_seq=3, tgt_seq=4)


# Location scores


def test_a_location_score_has_a_row_for_each_source_position() -> None:
    """W of 50 × 1000 in place of a matrix between states."""
    rows = {row.path: row.total for row in load("luong-location").params().rows}
    assert rows["decoder.step.attention.scores"] == 50 * 1000
    assert load("luong").params().total - load("luong-location").params().total == 1000 * 1000 - 50 * 1000
    assert shapes("luong-location")["decoder.step.attention.scores"] == (128, 50)


def test_the_source_is_as_long_as_the_score_has_rows(run: Run) -> None:
    """Another length is refused, with the field to change."""
    answer = run("shapes", "luong-location", "--src-seq", "20")
    assert answer.code == 2
    assert "--set attention.length" in answer.err
    assert load("luong-location", set=["attention.length=20"]).workload().lengths["src_seq"] == 20


def test_a_location_score_equals_pytorch() -> None:
    """Before the step and after it, with and without a bias."""
    sizes = {"vocab": 9, "embedding": 5, "cell": "gru", "hidden": 4, "encoder": {"bidirectional": True}, "decoder": {}}
    for when, bias in (("before", False), ("after", True)):
        attention = {"score": "location", "length": 6, "when": when, "bias": bias}
        equals_pytorch({"family": "recurrent", **sizes, "attention": attention}, batch=2, tgt_seq=3)


# What a user can get wrong

TOP = "family: recurrent\nvocab: 100\nembedding: 8\ncell: lstm\nhidden: 16\n"
BOTH = TOP + "encoder: {}\ndecoder: {}\n"


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (TOP + "head: {kind: classifier, classes: 2, pool: average}\n", "'average' is not one of last, mean", "mean"),
        (TOP + "head: {pool: mean}\n", "model.yaml:6: head.pool: lm has no pool", "lm has bias, vocab"),
        (TOP + "head: {kind: none, pool: {kind: mean, width: 3}}\n", "mean has no width", "no fields of its own"),
        (TOP + "head: {kind: none, pool: [mean, mean]}\n", "mean stands here twice", "take one out"),
        (TOP + "head: {kind: none, pool: [each, max]}\n", "each stands side by side", "take each out"),
        (TOP + "head: {kind: none, pool: {kind: attention, bias: true}}\n", "inside the tanh", "`width: 100`"),
        (TOP.replace("8", "{width: one-hot, bias: true}"), "model.yaml:3: embedding.bias: one-hot", "take bias out"),
        (TOP.replace("8", "one-hot") + "head: tied\n", "model.yaml:6: head: a tied head", "there is no embedding"),
        (TOP.replace("8", "onehott"), "model.yaml:3: embedding", "onehott"),
        (BOTH + "attention: location\n", "attention.length: missing", "`attention: {score: location, length: 50}`"),
        (BOTH + "attention: {score: dot, length: 5}\n", "dot takes sources of any length", "take length out"),
    ],
)
def test_a_mistake_is_named_with_the_way_out(run: Run, write: Write, text: str, where: str, said: str) -> None:
    """File, line, field, fact, and what to do."""
    answer = run("params", write(text))
    assert answer.code == 2
    assert where in answer.err
    assert said in answer.err
