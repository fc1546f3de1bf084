"""State-space layers, delta nets, recurrent units, and blocks that share weights: what each holds and computes."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations
from archcalc.spec.workload import Workload

D, BLOCKS, VOCAB, BATCH, SEQ = 32, 3, 10, 2, 6
INNER = 2 * D


def one(part: str, **fields: Any) -> dict[str, Any]:
    """A decoder with nothing else in its blocks."""
    stack = {"blocks": BLOCKS, "pattern": [part]}
    return {"vocab": VOCAB, "d_model": D, "norm": "rms", "decoder": stack, "head": "none", part: fields}


def a_block(spec: dict[str, Any]) -> int:
    return (int(archcalc.load(spec).params().total) - VOCAB * D - D) // BLOCKS - D


MAMBA = D * 2 * INNER + INNER * (4 + 1) + INNER * (2 + 2 * 16) + (2 + 1) * INNER + INNER * 16 + INNER + INNER * D
MIXED = INNER + 2 * 1 * 128
MAMBA2 = D * (INNER + MIXED + 8) + MIXED * (4 + 1) + 3 * 8 + INNER + INNER * D
CHANNELS = 2 * 2 * 5 + 4 * 7
DELTA = D * (2 * 2 * 5 + 2 * 4 * 7) + D * 2 * 4 + CHANNELS * 4 + 2 * 4 + 7 + 4 * 7 * D
GATES = 2 * (4 * 6 * 6 + 4 * 6)
RGLRU = 2 * (D * 24 + 24) + 24 * (4 + 1) + GATES + 24 + 24 * D + D

HELD = [
    (one("mamba"), MAMBA),
    (one("mamba", bias=True, conv_bias=False), MAMBA + 2 * INNER + D - INNER),
    (one("mamba", norms=True), MAMBA + 2 + 2 * 16),
    (one("mamba", norms="weightless"), MAMBA),
    (one("mamba", dt_rank=5), MAMBA + (5 - 2) * 2 * INNER),
    (one("mamba", kind="mamba2", heads=8), MAMBA2),
    (one("mamba", kind="mamba2", heads=8, groups=2), MAMBA2 + 2 * 128 * (D + 4 + 1)),
    (one("delta", heads=2, v_heads=4, head_dim=5, v_dim=7), DELTA),
    (one("rglru", width=24, heads=4), RGLRU),
]


@pytest.mark.parametrize(("spec", "held"), HELD, ids=lambda value: str(value)[-50:])
def test_what_a_block_holds(spec: dict[str, Any], held: int) -> None:
    """Projections in and out, a convolution of 4, decays, and what is particular to each."""
    assert a_block(spec) == held


NORM = 3 * D + 1  # its input, the statistic, what was normalised, and that with its weights
KEYS, VALUES = 2 * 5, 4 * 7
KEPT = [  # numbers kept of a token in a block, then numbers kept of a block
    (one("mamba"), NORM + 2 * INNER + 6 * INNER + (2 + 2 * 16), 0),
    (one("mamba", state=32), NORM + 2 * INNER + 6 * INNER + (2 + 2 * 32), 0),
    (one("mamba", kind="mamba2", heads=8), NORM + (INNER + MIXED + 8) + 2 * MIXED + 5 * INNER + 1, 0),
    (
        one("mamba", kind="mamba2", heads=8, norm_groups=4, chunk=2),
        NORM + (INNER + MIXED + 8) + 2 * MIXED + 5 * INNER + 4,
        0,
    ),
    (
        one("delta", heads=2, v_heads=4, head_dim=5, v_dim=7),
        NORM + (2 * KEYS + 2 * VALUES) + 2 * 4 + 2 * CHANNELS + 5 * VALUES + 4,
        0,
    ),
    (one("rglru", width=24, heads=4), NORM + 11 * 24, 24),
]


@pytest.mark.parametrize(("spec", "of_a_token", "of_a_block"), KEPT, ids=lambda value: str(value)[-50:])
def test_no_state_is_kept_for_the_backward_pass(spec: dict[str, Any], of_a_token: int, of_a_block: int) -> None:
    """Projections, what the convolution makes of them, Δ, gates, and what enters the norms and the output layer."""
    more = {**spec, "decoder": {**spec["decoder"], "blocks": BLOCKS + 1}}
    assert kept(more) - kept(spec) == 4 * (BATCH * SEQ * of_a_token + of_a_block)


def kept(spec: dict[str, Any]) -> int:
    """Bytes in fp32."""
    return saved_activations(archcalc.load(spec).build(Workload(BATCH, {"seq": SEQ})), "fp32").bytes


def test_a_kernel_computes_its_inside_again() -> None:
    """Products of Mamba's states cost twice as much going back: their last op is not needed again. Mamba-2's are."""
    done = work(archcalc.load(one("mamba")).build(Workload(BATCH, {"seq": SEQ})))
    assert done.backward == 2 * done.forward
    spec = one("mamba", kind="mamba2", heads=8, chunk=SEQ)
    done = work(archcalc.load(spec).build(Workload(BATCH, {"seq": SEQ})))
    left, across, scores, handed_on = (8 * SEQ * 8 * 128, 8 * SEQ * 8 * 128, 8 * SEQ * SEQ * 128, 8 * 2 * 2 * 8 * 128)
    again = BLOCKS * BATCH * 2 * (left + across + scores + handed_on)
    assert done.backward - 2 * done.forward == again


def forward(spec: dict[str, Any], **asked: Any) -> int:
    work_asked = Workload(BATCH, {"seq": asked.pop("seq", SEQ)}, **asked)
    return int(work(archcalc.load(spec).build(work_asked)).forward)


def test_the_work_of_mamba_grows_with_the_sequence_alone() -> None:
    """Twice the positions are twice the products, and a decode step costs what a position costs."""
    spec = one("mamba")
    assert forward(spec, seq=2 * SEQ) == 2 * forward(spec)
    assert forward(spec, seq=1, mode="decode", context=1000) * SEQ == forward(spec)


def test_mamba2_computes_whole_chunks() -> None:
    """Five positions in chunks of 4 cost as much as eight."""
    spec = one("mamba", kind="mamba2", heads=8, chunk=4)
    projections = 2 * BATCH * BLOCKS * (D * (INNER + MIXED + 8) + MIXED * 4 + INNER * D)
    assert forward(spec, seq=8) - forward(spec, seq=5) == (8 - 5) * projections


def test_blocks_that_share_weights_are_computed_each() -> None:
    """One set of weights, three times the work."""
    spec = {"vocab": VOCAB, "d_model": D, "heads": 4, "ffn": 40, "head": "none"}
    shared = {**spec, "encoder": {"blocks": 3, "distinct": 1}}
    assert forward(shared) == forward({**spec, "encoder": 3})
    assert archcalc.load(shared).params().total == archcalc.load({**spec, "encoder": 1}).params().total


@pytest.mark.parametrize(("blocks", "distinct", "calls"), [(5, 2, [3, 2]), (4, 2, [2]), (3, 4, [1, 0])])
def test_how_often_each_set_is_called(blocks: int, distinct: int, calls: list[int]) -> None:
    """As evenly as it goes; sets that are never called are kept and counted all the same."""
    spec = {"vocab": VOCAB, "d_model": D, "heads": 4, "ffn": 40, "encoder": {"blocks": blocks, "distinct": distinct}}
    (encoder,) = [child for child in archcalc.load(spec).build().children if child.name == "encoder"]
    sets = [child for child in encoder.children if child.region == "block"]
    assert [int(child.calls) for child in sets] == calls
    assert sum(int(child.repeat) for child in sets) == distinct
    assert any("sets of weights for" in str(note) for note in archcalc.load(spec).params().assumptions)
