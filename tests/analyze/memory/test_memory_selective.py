"""Blocks that are recomputed op by op: what is kept, and what is computed again, written out for Llama 3 8B."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.answer import Memory

if TYPE_CHECKING:
    from conftest import Run

TOKENS, WIDTH, SHARED, INNER, HEADS = 8192, 4096, 1024, 14336, 32


def test_every_second_product_and_attention_are_kept() -> None:
    """Of q, k, v, out, gate, up, down the first, third, fifth and seventh; of a kernel its output and statistics."""
    report = load("llama-3-8b").memory(
        mode="train", precision="bf16", code="plain", recompute="ops", seq=TOKENS, batch=1
    )
    block = next(row for row in report.rows if row.path == "decoder.blocks")
    products = WIDTH + SHARED + INNER + WIDTH
    kernel = 2 * TOKENS * WIDTH + 4 * HEADS * TOKENS + 3 * 8
    tables = 2 * 2 * TOKENS * 128  # cosines and sines, once for all blocks
    assert block.parts["activations"] == 32 * (2 * TOKENS * (WIDTH + products) + kernel) + tables


def test_every_other_product_is_computed_again() -> None:
    """k, out and up."""
    model = load("llama-3-8b")
    done = work(model.build(model.workload(batch=1, seq=TOKENS, attention="flash")), recompute="ops")
    assert done.recompute == 32 * 2 * TOKENS * WIDTH * (SHARED + WIDTH + INNER)


def test_a_bias_makes_another_op_of_a_product() -> None:
    """GPT-2's are all `addmm`, of which none is left out: nothing is multiplied again."""
    model = load("gpt2")
    assert work(model.build(model.workload(attention="flash")), recompute="ops").recompute == 0


@pytest.mark.parametrize("options", [{}, {"dp": 8, "zero": 3}, {"compile": "all"}, {"tp": 8, "sp": True}])
def test_more_is_recomputed_and_less_is_needed(options: dict[str, Any]) -> None:
    """Nothing, ops, whole blocks, in this order; and more tokens never need less."""
    model = load("llama-3-8b")
    asks = [Memory(model, mode="train", recompute=recompute, **options) for recompute in ("none", "ops", "full")]
    none, ops, full = (ask.total(8, 4096) for ask in asks)
    assert full < ops < none
    assert ops <= asks[1].total(8, 4100) <= asks[1].total(9, 4100)


def test_the_command_takes_it(run: Run) -> None:
    """FLOPs, memory and fit; an unknown word is answered with the four known ones."""
    for command in ("flops", "memory --mode train", "fit --mode train --gpu h100"):
        assert run(*command.split(), "llama-3-8b", "--recompute", "ops").code == 0
    answer = run("memory", "llama-3-8b", "--mode", "train", "--recompute", "op")
    assert answer.code == 2 and "expected one of none, selective, ops, full" in answer.err
