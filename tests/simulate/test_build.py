"""The schedule of a network of a few ops: who reads what last, what is saved, and runs that stand for others."""

from __future__ import annotations

from support.small_steps import BATCH, FP32, HIDDEN, LOGITS, WIDE, step

from archcalc.simulate.build import EVERY
from archcalc.simulate.nodes import Loop, Step


def test_a_cell_is_last_read_by_the_last_op_that_reads_it() -> None:
    """Two layers of four ops each, the head and the loss. What enters is read by the sum at the end of the first layer;
    what nobody reads, the loss itself, by the op that makes it."""
    found = step()
    steps = found.steps()
    assert [one.op.kind for one in steps] == ["contract", "gelu", "contract", "add"] * 2 + ["contract", "cross_entropy"]
    assert found.last_read[steps[0].reads[0]] == 3
    assert [found.last_read[one.output] for one in steps] == [1, 2, 3, 7, 5, 6, 7, 8, 9, 9]


def test_each_layer_saves_its_input_and_both_wide_tensors() -> None:
    """The head saves what it reads, the loss log-probabilities, a scalar and eight bytes for each target."""
    own = LOGITS + 1
    for layers in (1, 2, 3, 10):
        saved = sum(one.bytes for one in step(layers=layers).saved())
        assert saved == FP32 * (layers * (HIDDEN + 2 * WIDE) + HIDDEN + own) + 8 * BATCH


def test_one_run_in_the_middle_stands_for_all_like_it() -> None:
    """Of ten runs the first two and the last are followed, and one that stands for seven."""
    found = step(layers=10)
    assert [one.times for one in found.steps()] == [1] * 8 + [7] * 4 + [1] * 4 + [1] * 2
    (loop,) = {node.region for node in found.nodes if not isinstance(node, Step) and isinstance(node.region, Loop)}
    assert (loop.times, loop.first, loop.length) == (7, 8, 4)
    assert [loop.offset(number) for number in (3, 4, 8, 11, 12, 15, 16)] == [None, -1, 0, 0, 1, 1, None]
    every = step(layers=10, first=EVERY)
    assert len(every.steps()) == 4 * 10 + 2
    assert sum(one.times for one in found.steps()) == 4 * 10 + 2
