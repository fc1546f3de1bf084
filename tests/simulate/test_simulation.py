"""A step of a few ops, allocation by allocation."""

from __future__ import annotations

from functools import partial

from support.small_steps import BATCH, FP32, HEAD, HIDDEN, LOGITS, MATRIX, RECIPE, WIDE, levels, peak, sizes, step

from archcalc.core.mesh import Plan
from archcalc.simulate.passes.gradients import train
from archcalc.simulate.simulation import simulate

TRAIN = partial(train, plan=Plan(), recipe=RECIPE)


def test_going_forward_what_nobody_needs_is_freed() -> None:
    """Without a backward pass to come an op's tensors are still what autograd saves."""
    saved = 2 * (HIDDEN + 2 * WIDE) + HIDDEN
    assert levels(step()).parts["activations"] == FP32 * (saved + LOGITS + 1) + 8 * BATCH
    assert levels(step()).parts["temporary"] == 0


def test_the_most_is_there_when_the_first_layer_is_differentiated() -> None:
    """All gradients; the input that its first matrix saved; and the gradient behind that matrix."""
    found = peak(step(TRAIN))
    assert (found.phase, found.place.path) == ("backward", "blocks")
    assert found.parts["gradients"] == FP32 * (HEAD + 4 * MATRIX)
    assert found.parts["activations"] == FP32 * HIDDEN
    assert found.bytes == FP32 * (HEAD + 4 * MATRIX + HIDDEN + WIDE)


def test_gradients_are_made_from_the_last_op_to_the_first() -> None:
    """The input of all wants none, so that the first layer's first matrix makes that of its weight alone."""
    layer = [WIDE, MATRIX, WIDE, HIDDEN, MATRIX]  # down, gelu, up: an input's gradient and then a weight's
    made = [LOGITS, LOGITS, HIDDEN, HEAD, *layer, *layer[:3], MATRIX]
    assert sizes(simulate(step(TRAIN)), "backward") == [FP32 * size for size in made]


def test_ten_layers_peak_as_ten_layers() -> None:
    """Those in the middle are played as one that is repeated."""
    assert peak(step(TRAIN, layers=10)).bytes == FP32 * (HEAD + 20 * MATRIX + HIDDEN + WIDE)
