"""Latent attention, and the other things that attention of real models has: what each adds."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.spec.workload import Workload

D, HEADS, BLOCKS, VOCAB, BATCH, SEQ = 12, 3, 2, 10, 2, 5
EACH = D // HEADS
SPEC: dict[str, Any] = {
    "vocab": VOCAB,
    "d_model": D,
    "heads": HEADS,
    "bias": False,
    "norm": "rms",
    "position": "rope",
    "decoder": {"blocks": BLOCKS, "pattern": ["attention"]},
    "head": "none",
}
PLAIN = VOCAB * D + BLOCKS * (4 * D * D + D) + D
MLA = {"kind": "mla", "kv_rank": 7, "nope_dim": 5, "rope_dim": 2, "v_dim": 3}
UP = 7 * HEADS * (5 + 3)
DOWN = D * (7 + 2) + 7
OUT = HEADS * 3 * D

ADDED = [
    ({"qk_norm": "head"}, 2 * EACH),
    ({"qk_norm": "heads"}, 2 * D),
    ({"qk_norm": "all"}, 2 * D),
    ({"qk_norm": "all", "kv_heads": 1}, D + EACH - 2 * D * (D - EACH)),
    ({"qk_norm": {"over": "head", "kind": "layer", "bias": True}}, 4 * EACH),
    ({"qk_norm": {"affine": False}}, 0),
    ({"window": 3}, 0),
    ({"chunk": 3}, 0),
    ({"softcap": 30}, 0),
    ({"sinks": True}, HEADS),
    ({"gate": True}, D * D),
    ({"gate": True, "bias": ["q"]}, D * D + 2 * D),
    (MLA, -4 * D * D + D * HEADS * (5 + 2) + DOWN + UP + OUT),
    ({**MLA, "q_rank": 6}, -4 * D * D + D * 6 + 6 + 6 * HEADS * (5 + 2) + DOWN + UP + OUT),
    ({**MLA, "bias": True}, -4 * D * D + D * HEADS * (5 + 2) + DOWN + UP + OUT + (7 + 2) + D),
]


@pytest.mark.parametrize(("attention", "more"), ADDED, ids=str)
def test_what_each_field_adds(attention: dict[str, Any], more: int) -> None:
    """To plain attention without bias."""
    assert archcalc.load({**SPEC, "attention": attention}).params().total == PLAIN + BLOCKS * more


def seen(attention: dict[str, Any], seq: int, stack: str = "decoder") -> int:
    """Pairs that a mask leaves, by the FLOPs of what is counted without the rest."""
    stacks = {"decoder": None, stack: SPEC["decoder"]}
    spec = {name: value for name, value in {**SPEC, **stacks, "attention": attention}.items() if value}
    root = archcalc.load(spec).build(Workload(1, {"seq": seq}))
    half, full = (work(root, causal=causal).forward for causal in ("half", "full"))
    pairs = BLOCKS * 2 * 2 * HEADS * EACH  # two products over pairs
    return seq * seq - (int(full) - int(half)) // pairs


@pytest.mark.parametrize("seq", [1, 3, 4, 5, 12])
def test_a_mask_leaves_what_each_position_sees(seq: int) -> None:
    """Counted one by one: up to itself, in a window of 4, in its chunk of 4, in a window of 5 to both sides."""
    places = range(seq)
    assert seen({}, seq) == sum(j <= i for i in places for j in places)
    assert seen({"window": 4}, seq) == sum(j <= i < j + 4 for i in places for j in places)
    assert seen({"chunk": 4}, seq) == sum(j <= i and i // 4 == j // 4 for i in places for j in places)
    assert seen({"window": 5}, seq, "encoder") == sum(abs(i - j) <= 2 for i in places for j in places)


def test_a_decode_step_is_computed_from_the_latent_vectors() -> None:
    """Per head: the query brought to the latent width, scores on it and on the rotated key, the answer brought back."""
    context = 30
    spec = {**SPEC, "attention": MLA}
    step = Workload(BATCH, {"seq": 1}, mode="decode", context=context)
    flops = int(work(archcalc.load(spec).build(step)).forward)
    projections = D * HEADS * (5 + 2) + D * (7 + 2) + HEADS * 3 * D
    per_head = 5 * 7 + (context + 1) * (7 + 2) + (context + 1) * 7 + 7 * 3
    assert flops == BLOCKS * BATCH * 2 * (projections + HEADS * per_head)


def test_a_variant_may_have_other_heads() -> None:
    """Each line of a pattern may differ in heads, width and norm."""
    variants = {"wide": {"like": "attention", "heads": 6, "head_dim": 8, "norm": "none"}}
    spec = {**SPEC, "variants": variants, "decoder": {"pattern": ["attention", "wide"]}}
    assert archcalc.load(spec).params().total == VOCAB * D + (4 * D * D + D) + 4 * D * 6 * 8 + D


@pytest.mark.parametrize(("parallel", "norms"), [("shared", 1), ("separate", 2), (None, 2)])
def test_parallel_parts(parallel: str | None, norms: int) -> None:
    """One norm for all branches, or one each."""
    said = {"parallel": parallel} if parallel else {}
    spec = {**SPEC, "ffn": 20, "decoder": BLOCKS, **said}
    assert archcalc.load(spec).params().total == VOCAB * D + BLOCKS * (4 * D * D + 2 * D * 20 + norms * D) + D


def test_a_learned_scale_on_every_branch() -> None:
    """A vector for attention and one for the FFN."""
    spec = {**SPEC, "ffn": 20, "decoder": BLOCKS}
    more = archcalc.load({**spec, "layer_scale": True}).params().total - archcalc.load(spec).params().total
    assert more == BLOCKS * 2 * D
