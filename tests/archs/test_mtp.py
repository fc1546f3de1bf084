"""Blocks that predict further ahead than the next token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from conftest import Run, Write

D, VOCAB, FFN, BATCH, SEQ = 12, 10, 20, 2, 5
SPEC: dict[str, Any] = {
    "vocab": VOCAB,
    "d_model": D,
    "heads": 3,
    "ffn": FFN,
    "bias": False,
    "norm": "rms",
    "decoder": 2,
}
BLOCK = 4 * D * D + 2 * D * FFN + 2 * D
FURTHER = 2 * D + 2 * D * D + BLOCK + D  # two norms, the projection of both, a block, a norm


def more(head: dict[str, Any]) -> int:
    plain = {name: value for name, value in head.items() if name != "mtp"}
    return int(
        archcalc.load({**SPEC, "head": head}).params().total - archcalc.load({**SPEC, "head": plain}).params().total
    )


@pytest.mark.parametrize("kind", ["lm", "tied"])
def test_it_shares_table_and_head(kind: str) -> None:
    """So that each block further adds itself, its norms and its projection."""
    assert more({"kind": kind, "mtp": 3}) == 3 * FURTHER


def test_a_checkpoint_may_keep_both_again() -> None:
    """DeepSeek-V3's does: the 14 B that it has beyond its 671 B."""
    assert more({"kind": "lm", "mtp": {"blocks": 1, "own_tables": True}}) == FURTHER + 2 * VOCAB * D
    whole = archcalc.load("deepseek-v3", set=["head={mtp: {blocks: 1, own_tables: true}}"]).params()
    assert round(whole.total / 10**9 - 671.026) == 13
    assert whole.total + whole.buffers == 684_489_830_400 + 59 * 256


def test_it_is_trained_and_not_asked() -> None:
    """A training step computes projection, block and logits; an answer does not."""
    spec = {**SPEC, "head": {"mtp": 1}}
    sizes: dict[str, Any] = {"batch": BATCH, "lengths": {"seq": SEQ}}
    by_mode = {
        mode: [int(work(archcalc.load(one).build(Workload(**sizes, mode=mode))).forward) for one in (spec, SPEC)]
        for mode in ("train", "prefill")
    }
    scores = 2 * SEQ * D
    weights = 2 * D * D + 4 * D * D + 2 * D * FFN + D * VOCAB
    assert by_mode["train"][0] - by_mode["train"][1] == 2 * BATCH * SEQ * (weights + scores)
    assert by_mode["prefill"][0] == by_mode["prefill"][1]


MISTAKES = [
    ("encoder: 2\nhead: {mtp: 1}", "mtp predicts further tokens, which an encoder does not"),
    ("decoder: 2\nembedding: {width: 8, project: tokens}\nhead: {mtp: 1}", "mtp needs embeddings of width d_model"),
    ("decoder: 2\nhead: {mtp: {own_tables: true}}", "mtp needs a number of blocks"),
    ("decoder: 2\nhead: {kind: none, mtp: 1}", "none has no mtp"),
]


@pytest.mark.parametrize(("text", "told"), MISTAKES)
def test_a_mistake_is_told(run: Run, write: Write, text: str, told: str) -> None:
    answer = run("params", write(f"vocab: 10\nd_model: 12\nheads: 3\nffn: 20\n{text}\n"))
    assert answer.code == 2
    assert told in answer.err
