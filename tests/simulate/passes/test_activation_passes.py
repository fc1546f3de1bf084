"""What passes change about saved tensors, on two layers of four ops each."""

from __future__ import annotations

from functools import partial

from support.small_steps import (
    BATCH,
    BF16,
    FP32,
    HEAD,
    HIDDEN,
    LOGITS,
    MATRIX,
    RECIPE,
    WIDE,
    Trained,
    levels,
    sizes,
    step,
)

from archcalc.core.mesh import Plan
from archcalc.core.precision import Policy
from archcalc.simulate.events import Change
from archcalc.simulate.passes.bitsandbytes import hold_inputs
from archcalc.simulate.passes.checkpointing import checkpoint
from archcalc.simulate.passes.compiled import compile_loss
from archcalc.simulate.passes.fp8 import fp8
from archcalc.simulate.passes.gradients import forward_only, train
from archcalc.simulate.passes.logits import hold_logits, in_chunks, mark_logits, over_gpus
from archcalc.simulate.passes.offloaded_activations import offload_activations, offloaded_bytes
from archcalc.simulate.passes.pipeline import in_flight
from archcalc.simulate.schedule import Pass
from archcalc.simulate.simulation import simulate

TRAIN = partial(train, plan=Plan(), recipe=RECIPE)
LOSS = FP32 * (LOGITS + 1) + 8 * BATCH  # log-probabilities, a scalar, and targets of eight bytes


def saved_bytes(*passes: Pass, layers: int = 2) -> int:
    return sum(one.bytes for one in step(*passes, layers=layers).saved())


def test_a_checkpointed_block_saves_its_input_alone() -> None:
    for layers in (1, 2, 10):
        assert (
            saved_bytes(partial(checkpoint, recompute="block"), layers=layers)
            == FP32 * (layers * HIDDEN + HIDDEN) + LOSS
        )


def test_a_checkpointed_block_is_computed_again_up_to_its_last_saved_tensor() -> None:
    """Both wide tensors, when the second matrix asks for one; not that product, nor the sum behind it."""
    made = sizes(simulate(step(TRAIN, partial(checkpoint, recompute="block"))), "backward", "activations")
    assert made == [FP32 * WIDE] * 2 * 2


def test_linear_layers_save_a_byte_an_element_in_fp8() -> None:
    """All but the one whose weight is quantised; GELU saves what it did."""
    found = step(partial(fp8, is_quantised=Trained().quantised), precision="bf16")
    assert [[found.bytes[cell] for cell in one.saves] for one in found.steps()[:3]] == [[HIDDEN], [WIDE * BF16], [WIDE]]
    found = step(partial(fp8, is_quantised=Trained("down").quantised), precision="bf16")
    assert [found.bytes[cell] for cell in found.steps()[2].saves] == [WIDE * BF16]


def test_a_compiled_loss_saves_logits_and_two_numbers_a_row() -> None:
    found = step(partial(compile_loss, policy=Policy("fp32")))
    assert [found.bytes[cell] for cell in found.steps()[-1].saves] == [FP32 * LOGITS, 8 * BATCH, 2 * FP32 * BATCH]


def test_what_the_loss_reads_and_makes_is_logits() -> None:
    found = step(mark_logits)
    assert sum(found.bytes[cell] for cell in found.logits) == FP32 * 2 * (LOGITS + 1) + 8 * BATCH


def test_logits_in_chunks_exist_one_chunk_at_a_time() -> None:
    """Rounded up; the head's gradient is one chunk's beside the sum of those before."""
    found = step(TRAIN, mark_logits, partial(in_chunks, number=4))
    assert found.bytes[found.steps()[-2].output] == -(-FP32 * LOGITS // 4)
    temporary = sizes(simulate(found), "backward", "temporary")
    assert temporary[:2] == [FP32 * HIDDEN, FP32 * HEAD]


def test_a_vocabulary_over_gpus_takes_one_more_tensor_of_logits_both_ways() -> None:
    whole, parts = (simulate(step(TRAIN, mark_logits, *more)) for more in ((), (over_gpus,)))
    assert sizes(whole, "loss", "logits")[-2:] == [FP32 * LOGITS, FP32]
    assert sizes(parts, "loss", "logits")[-3:] == [FP32 * LOGITS, FP32, FP32 * LOGITS]
    assert sizes(whole, "backward", "logits")[0] == FP32 * LOGITS
    assert sizes(parts, "backward", "logits")[0] == 2 * FP32 * LOGITS


def freed_in(until: str) -> list[tuple[str, str]]:
    """The phase in which logits are freed, and the module that is running then."""
    found = step(TRAIN, mark_logits, partial(hold_logits, until=until, has_last_step=False))
    head = found.steps()[-2].output.tensor
    events = (one for one in simulate(found) if isinstance(one, Change))
    return [(one.phase, one.module.path) for one in events if one.block.what is head and one.bytes < 0]


def test_a_training_loop_holds_logits() -> None:
    """Until the loss is there, until the backward pass is done, or into the next step."""
    assert freed_in("loss") == [("backward", "")]
    assert freed_in("backward") == [("backward", "blocks")]
    assert freed_in("next_forward") == []


def test_the_last_step_leaves_its_logits_and_what_its_graph_holds() -> None:
    """4-bit products hold their inputs: of ten layers one block each."""
    until = "next_forward"
    assert step(partial(hold_logits, until=until, has_last_step=False)).left_over == []
    assert step(partial(hold_logits, until=until, has_last_step=True)).left_over == [("activations", FP32 * LOGITS)]
    held = step(
        partial(hold_inputs, is_quantised=Trained("down").quantised),
        partial(hold_logits, until=until, has_last_step=True),
        layers=10,
    )
    assert held.left_over == [("activations", FP32 * LOGITS)] + 10 * [("activations", FP32 * WIDE)]
    assert sizes(simulate(held), "forward")[:11] == [FP32 * LOGITS] + 10 * [FP32 * WIDE]


def test_inputs_of_4_bit_products_outlive_the_backward_pass() -> None:
    found = levels(step(TRAIN, partial(hold_inputs, is_quantised=Trained("down").quantised)))
    assert found.parts["activations"] == 2 * FP32 * WIDE


def test_all_but_the_last_block_send_what_they_save_to_host_ram() -> None:
    for layers in (2, 10):
        assert offloaded_bytes(step(offload_activations, layers=layers)) == (layers - 1) * FP32 * (HIDDEN + 2 * WIDE)
    found = step(offload_activations)
    assert levels(found).parts["activations"] == FP32 * (HIDDEN + 2 * WIDE + HIDDEN) + LOSS


def test_a_pipeline_holds_the_activations_of_the_other_micro_batches() -> None:
    """Those in flight beside the one that is computed; offloaded ones are not there."""
    each = FP32 * (2 * (HIDDEN + 2 * WIDE) + HIDDEN) + LOSS
    assert step(partial(in_flight, number=1, micro_batches=8)).at_start["activations"] == 0
    assert step(partial(in_flight, number=3, micro_batches=8)).at_start["activations"] == 2 * each
    gone = FP32 * (HIDDEN + 2 * WIDE)
    assert step(offload_activations, partial(in_flight, number=3, micro_batches=8)).at_start["activations"] == 2 * (
        each - gone
    )


def test_of_a_model_that_answers_every_tensor_is_an_activation() -> None:
    parts = {one.part for one in simulate(step(forward_only)) if isinstance(one, Change)}
    assert parts == {"activations"}


def test_passes_compose() -> None:
    """What is not saved does not leave; of what is left, each is worked out by itself."""
    found = step(
        TRAIN, partial(checkpoint, recompute="block"), mark_logits, partial(in_chunks, number=2), offload_activations
    )
    assert offloaded_bytes(found) == FP32 * HIDDEN
    assert found.bytes[found.steps()[-2].output] == FP32 * LOGITS // 2
    assert MATRIX * FP32 in sizes(simulate(found), "backward", "gradients")
