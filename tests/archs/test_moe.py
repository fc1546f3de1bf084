"""Mixtures of experts: what each field adds, and what of it a token meets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc

if TYPE_CHECKING:
    from conftest import Run

D, EXPERTS, TOP, WIDTH, BLOCKS, VOCAB = 12, 8, 3, 20, 4, 10
EXPERT = 3 * D * WIDTH  # gate, up and down
MOE = {"experts": EXPERTS, "top": TOP, "width": WIDTH}
SPEC: dict[str, Any] = {
    "vocab": VOCAB,
    "d_model": D,
    "heads": 3,
    "bias": False,
    "norm": "rms",
    "decoder": {"blocks": BLOCKS, "pattern": ["attention moe"]},
}
ELSEWHERE = 2 * VOCAB * D + BLOCKS * (4 * D * D + 2 * D) + D


def with_moe(**changes: Any) -> dict[str, Any]:
    return {**SPEC, "moe": {**MOE, **changes}}


ADDED = [
    ({}, 0),
    ({"gated": False}, -EXPERTS * D * WIDTH),
    ({"bias": True}, EXPERTS * (2 * WIDTH + D)),
    ({"router_bias": True}, EXPERTS),
    ({"correction": True}, 0),
    ({"shared": 7}, 3 * D * 7),
    ({"shared": {"width": 7, "gated": False, "bias": True}}, 2 * D * 7 + 7 + D),
    ({"shared": 7, "shared_gate": True}, 3 * D * 7 + D),
    ({"latent": 5}, 2 * D * 5 + EXPERTS * 3 * (5 - D) * WIDTH),
    ({"latent": 5, "latent_bias": True}, 2 * D * 5 + 5 + D + EXPERTS * 3 * (5 - D) * WIDTH),
]


@pytest.mark.parametrize(("change", "more"), ADDED, ids=str)
def test_what_each_field_adds(change: dict[str, Any], more: int) -> None:
    """To the experts, gated and without bias, and a router."""
    counted = archcalc.load(with_moe(**change)).params().total
    assert counted == ELSEWHERE + BLOCKS * (EXPERTS * EXPERT + D * EXPERTS + more)


def test_a_correction_is_a_buffer() -> None:
    """One number for each expert in every block, beside the parameters."""
    assert archcalc.load(with_moe(correction=True)).params().buffers == BLOCKS * EXPERTS


@pytest.mark.parametrize("bias", [True, False])
def test_active_parameters(bias: bool) -> None:
    """All but the experts that a token does not visit, with and without embeddings."""
    counted = archcalc.load(with_moe(bias=bias, shared=7)).params()
    one = EXPERT + (2 * WIDTH + D if bias else 0)
    assert counted.active == counted.total - BLOCKS * (EXPERTS - TOP) * one
    assert counted.active_non_embedding == counted.active - 2 * VOCAB * D


def test_a_dense_model_is_active_as_a_whole(run: Run) -> None:
    """Then there is nothing to say about it."""
    record = run("params", "gpt2", "--format", "json").json
    assert record["active"] == record["total"]
    assert record["active_non_embedding"] == record["non_embedding"]
    assert "active" not in run("params", "gpt2").out


def test_a_mixture_says_both(run: Run) -> None:
    """Mixtral's published 46.7 B, of which a token uses 12.9 B."""
    out = run("params", "mixtral-8x7b").out
    assert "46,702,792,704" in out
    assert "active per token         12.88 B  12,879,925,248" in out


def test_the_working_names_one_expert(run: Run) -> None:
    """8 × (2 × 4096 × 14336 + 14336 × 4096), and what is counted eight times."""
    out = run("params", "mixtral-8x7b", "--explain", "--depth", "6").out
    assert "= 8 × (2 × 4096 × 14336 + 14336 × 4096)" in out
    assert "one expert" in out


def test_dense_and_sparse_blocks_mix() -> None:
    """Three dense blocks, then the rest with experts, as in DeepSeek-V3."""
    pattern = {"pattern": ["3 × attention ffn", f"{BLOCKS} × attention moe"]}
    spec = {**SPEC, "ffn": {"width": 30, "gated": True}, "moe": MOE, "decoder": pattern}
    attention, sparse = 4 * D * D + 2 * D, EXPERTS * EXPERT + D * EXPERTS
    dense = 3 * (attention + 3 * D * 30)
    assert archcalc.load(spec).params().total == 2 * VOCAB * D + dense + BLOCKS * (attention + sparse) + D
