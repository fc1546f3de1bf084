"""What passes do with parameters, their copies, gradients and updates: five matrices of two layers and a head."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from support.small_steps import BF16, FP32, HEAD, MATRIX, RECIPE, Trained, levels, peak, sizes, step

from archcalc.core.mesh import Plan
from archcalc.run.optimizers import Optimizer
from archcalc.simulate.events import Change, Event, Repeated, Stream
from archcalc.simulate.passes import updates
from archcalc.simulate.passes.buffers import library_buffers
from archcalc.simulate.passes.fsdp import gather_weights
from archcalc.simulate.passes.gradients import accumulate, add_in_place, offload_gradients, train
from archcalc.simulate.passes.weight_copies import cast_weights, copy_for_products, dequantise
from archcalc.simulate.passes.zero import reduce_gradients, round_up_shares
from archcalc.simulate.schedule import Pass
from archcalc.simulate.simulation import simulate

PLAN, STORED = Plan(), Trained()
TRAIN = partial(train, plan=PLAN, recipe=RECIPE)
ALL = 4 * MATRIX + HEAD


def with_copies(*, autocast: bool) -> Pass:
    return partial(cast_weights, stored=STORED, plan=PLAN, recipe=replace(RECIPE, copies="bf16", autocast=autocast))


def weights_by_phase(events: list[Event]) -> dict[str, int]:
    """Bytes of copies of weights at the end of each phase."""
    level, found = 0, {}
    for one in events:
        assert not isinstance(one, Repeated)
        level += one.bytes if one.part == "weights" else 0
        found[one.phase] = level
    return found


def test_copies_of_a_recipe_live_until_the_backward_pass_has_used_them() -> None:
    found = weights_by_phase(simulate(step(TRAIN, with_copies(autocast=False))))
    assert found == {"forward": BF16 * ALL, "loss": BF16 * ALL, "backward": 0, "step": 0}


def test_autocast_forgets_behind_the_loss_what_no_product_saved() -> None:
    """The input wants no gradient, so the first matrix is not saved; the gradients of copies are cast back."""
    made = step(TRAIN, with_copies(autocast=True))
    events = [one for one in simulate(made) if isinstance(one, Change)]
    behind = [one for one in events if one.phase == "loss" and one.part == "weights"]
    assert [one.bytes for one in behind] == [-BF16 * MATRIX]
    assert made.steps()[0].cast_gradients == {made.steps()[0].weights[0]: BF16 * MATRIX}
    narrow = sizes(events, "backward", "temporary")
    assert narrow.count(BF16 * MATRIX) == 4 and narrow.count(BF16 * HEAD) == 1


def test_a_quantised_weight_is_dequantised_for_each_product_and_its_gradients() -> None:
    """Two copies of 16 bits, once forward and once back; nothing of it stays."""
    events = simulate(step(TRAIN, partial(dequantise, stored=Trained("down"), plan=PLAN, width=BF16, number=2)))
    copy = 2 * BF16 * MATRIX
    assert sizes(events, "forward", "temporary").count(copy) == 2
    assert sizes(events, "backward", "temporary").count(copy) == 2
    assert (
        levels(step(partial(dequantise, stored=Trained("down"), plan=PLAN, width=BF16, number=2))).parts["temporary"]
        == 0
    )


def test_a_copy_for_products_is_as_large_as_it_is_said_to_be() -> None:
    events = simulate(step(partial(copy_for_products, size=lambda param: 7 if param.owner.name == "head" else 0)))
    assert sizes(events, "forward", "temporary").count(7) == 1


def test_gradients_stay_until_the_update() -> None:
    assert peak(step(TRAIN)).parts["gradients"] == FP32 * ALL


def test_gradients_that_are_added_to_others_pass() -> None:
    """Of earlier micro-batches on the GPU, or in host RAM."""
    for change in (accumulate, partial(offload_gradients, is_flat=False)):
        found = levels(step(TRAIN, change))
        assert max(one.parts["gradients"] for one in found.instants) == 0


def test_flat_gradients_leave_by_a_buffer_for_the_largest() -> None:
    """DeepSpeed's below stage 3: of the head, which has more than a matrix of a block."""
    assert HEAD > MATRIX
    buffers = [
        step(TRAIN, partial(offload_gradients, is_flat=is_flat)).at_start.get("buffers", 0) for is_flat in (True, False)
    ]
    assert buffers == [FP32 * HEAD, 0]


def test_a_product_that_adds_in_place_makes_no_gradient_of_its_weight() -> None:
    events = simulate(step(TRAIN, accumulate, add_in_place))
    assert not {FP32 * MATRIX, FP32 * HEAD} & set(sizes(events, "backward"))


def test_zero_2_keeps_a_share_of_each_block_s_gradients() -> None:
    """Over four GPUs; those of the head are reduced last."""
    plan = Plan(dp=4, zero=2)
    events = simulate(
        step(partial(train, plan=plan, recipe=RECIPE), partial(reduce_gradients, plan=plan, recipe=RECIPE))
    )
    kept = [one.bytes for one in events if isinstance(one, Change) and one.block.stream is Stream.REDUCE_SCATTER]
    assert [size for size in kept if size > 0] == [FP32 * size // 4 for size in (2 * MATRIX, 2 * MATRIX, HEAD)]


def test_a_flat_buffer_is_rounded_up_once() -> None:
    """1,424 numbers over three GPUs: slices of 476, where the five shares are 4 · 85 and 133."""
    plan = Plan(dp=3, zero=2)
    found = step(
        partial(train, plan=plan, recipe=RECIPE),
        partial(reduce_gradients, plan=plan, recipe=RECIPE),
        partial(round_up_shares, plan=plan, recipe=RECIPE, stored=STORED),
    )
    assert ALL == 1424
    assert found.rounding == FP32 * (476 - (4 * 85 + 133))


def test_zero_3_gathers_a_block_s_weights_while_it_runs() -> None:
    """The head stays gathered, or is a group of its own behind the blocks; nothing stands in front of them."""
    plan = Plan(dp=4, zero=3)
    found = step(partial(gather_weights, plan=plan, recipe=RECIPE, stored=STORED))
    assert [group.gathered for group in found.blocks] == [(FP32 * MATRIX, FP32 * MATRIX)] * 2
    assert (found.shards, found.gathered_root) == (4, (FP32 * HEAD,))
    found = step(partial(gather_weights, plan=plan, recipe=RECIPE, stored=STORED, ends=True, reshard="all_but_last"))
    assert (found.gathered_first, found.gathered_last, found.gathered_root) == ((), (FP32 * HEAD,), ())
    assert [group.reshards for group in found.blocks] == [True, False]
    found = step(partial(gather_weights, plan=plan, recipe=RECIPE, stored=STORED, reshard="never"))
    assert [group.reshards for group in found.blocks] == [False, False]


def test_an_all_gather_has_a_flat_input_and_a_flat_output() -> None:
    """A fourth of the block, then all of it, then each matrix by itself."""
    events = simulate(step(partial(gather_weights, plan=Plan(dp=4, zero=3), recipe=RECIPE, stored=STORED)))
    block = [FP32 * 2 * MATRIX // 4, FP32 * 2 * MATRIX, FP32 * MATRIX, FP32 * MATRIX]
    assert sizes(events, "forward", "temporary")[3:7] == block


@pytest.mark.parametrize("has_head", [True, False])
def test_all_that_zero_3_gathers_is_freed_before_the_update(has_head: bool) -> None:
    """Also where a model ends with a block, which no op behind it asks for."""
    plan = Plan(dp=4, zero=3)
    passes = (
        partial(gather_weights, plan=plan, recipe=RECIPE, stored=STORED),
        partial(train, plan=plan, recipe=RECIPE),
        partial(reduce_gradients, plan=plan, recipe=RECIPE),
    )
    assert levels(step(*passes, has_head=has_head)).parts["temporary"] == 0


def own_optimizer(*, update: int, one_by_one: bool = False) -> Optimizer:
    """Without states, of which an update needs nothing."""
    return Optimizer(name="own", about="", source="", aliases=(), update=update, one_by_one=one_by_one)


def updated_by(optimizer: Optimizer) -> Pass:
    return partial(updates.update, plan=PLAN, optimizer=optimizer, recipe=RECIPE, stored=STORED)


def test_an_update_of_all_parameters_at_once_or_one_by_one() -> None:
    """In the order of the tree; a loop holds the last quotient beside a root and a quotient."""
    every = [FP32 * size for size in [MATRIX] * 4 + [HEAD]]
    at_once, one_by_one = (own_optimizer(update=1, one_by_one=each) for each in (False, True))
    assert step(updated_by(at_once)).updates == [every]
    turns = step(updated_by(one_by_one)).updates
    assert turns == [[before, size, size] for before, size in zip([0, *every], every, strict=False)]


def test_an_update_of_very_many_tensors_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "MOST_TENSORS", 4)
    optimizer = own_optimizer(update=2)
    assert step(updated_by(optimizer)).updates == [[2 * FP32 * ALL]]
    slow = own_optimizer(update=2, one_by_one=True)
    assert len(step(updated_by(slow), layers=9).updates) == 2 * 2 + 1


def test_a_fused_kernel_takes_flat_gradients_and_their_wide_copy() -> None:
    found = step(partial(updates.update_by_fused_kernel, plan=Plan(dp=2, zero=1), recipe=RECIPE, stored=STORED))
    assert found.updates == [[FP32 * ALL // 2, FP32 * ALL // 2]]


def test_a_library_has_a_dummy_for_each_shape_of_a_matrix() -> None:
    """Three shapes for five matrices, and the workspace of linear layers."""
    numbers = {"linear_workspace": 1000, "grouped_linear_streams": 4, "cublas_workspace": 50}
    found = step(partial(library_buffers, plan=PLAN, weights="bf16", activations="bf16", number=numbers.__getitem__))
    assert found.at_start["buffers"] == BF16 * (2 * MATRIX + HEAD) + 1000
