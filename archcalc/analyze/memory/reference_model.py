"""The frozen reference model of DPO and GRPO: its weights, and a forward pass without gradients.

Source: TRL, whose prepare_deepspeed and prepare_fsdp divide it as the policy under ZeRO-3, and not below.
"""

from __future__ import annotations

from functools import partial

from archcalc.analyze.memory.residents import Resident, in_phase
from archcalc.analyze.memory.states import Keeping, parameter_memory
from archcalc.analyze.memory.training import unrolled
from archcalc.core.execution import never
from archcalc.core.ir import Module
from archcalc.core.precision import BYTES, Policy
from archcalc.run.method_loss import logits_of
from archcalc.run.methods import returns_fp32
from archcalc.run.resolved import Run
from archcalc.simulate.build import FIRST, TensorBytes, schedule
from archcalc.simulate.events import Event, Ledger
from archcalc.simulate.passes.fsdp import gather_weights
from archcalc.simulate.passes.weight_copies import cast_bytes, copy_for_products, dequantise
from archcalc.simulate.schedule import Pass, Schedule
from archcalc.simulate.simulation import simulate
from archcalc.storage.format import plain

PHASE = "reference"
COPIES = "copies of the logits"
PLACES = {"rollout": "forward", "loss": "backward"}  # by the method's `reference_pass`: the phase that follows


def reference_model(root: Module, policy: Module, run: Run, keeping: Keeping, *, is_unrolled: bool) -> Resident:
    """`root` is traced for a forward pass of the model alone, `policy` for the step. With adapters it is the policy
    itself, and has no weights of its own."""
    assert run.recipe
    width, held = run.recipe.weights, dict[str, int]()  # in the number format of the policy's own
    if not run.lora:
        own = Keeping(run.plan, plain(width), width, never)
        held["reference"] = parameter_memory(root, own, run.activations).weights
    made = partial(_schedule, root, run, keeping)
    steps = unrolled(made) if is_unrolled else simulate(made())
    steps += _log_probabilities(run, policy, root)
    place = PLACES[run.method.reference_pass]
    return Resident("reference", "reference model", held, in_phase(steps, PHASE), place)


def _schedule(root: Module, run: Run, keeping: Keeping, first: int = FIRST) -> Schedule:
    """A forward pass without gradients by a model that is stored and divided as the one that is trained: whatever no
    later op reads is freed, nothing is saved, and nothing cached."""
    recipe, plan, policy = run.recipe, run.plan, Policy(run.activations)
    assert recipe
    width, number = BYTES[run.activations], run.format.dequantised_copies
    passes: list[Pass] = [partial(dequantise, stored=keeping, plan=plan, width=width, number=number)]
    if recipe.copies:
        cast = partial(cast_bytes, stored=keeping, plan=plan, recipe=recipe)
        passes.append(partial(copy_for_products, size=cast))
    if plan.zero == 3:
        ends = run.code.habits.fsdp_groups == "ends"
        passes.append(partial(gather_weights, plan=plan, recipe=recipe, stored=keeping, ends=ends))
    return schedule(root, policy, never, TensorBytes(plan, policy), passes, first)


def _log_probabilities(run: Run, policy: Module, root: Module) -> list[Event]:
    """Its logits until the loss is there, a sequence's logarithms at a time, and what the metrics copy."""
    assert run.recipe
    is_wide = returns_fp32(run.recipe) and not run.method.is_fused
    width = BYTES["fp32"] if is_wide else BYTES[run.activations]
    logits, known = (width * run.plan.size(tensor) // run.loss_chunks for tensor in logits_of(policy))
    ledger = Ledger(PHASE, root)
    held = ledger.allocate("logits", logits, "logits of the reference model")
    ledger.for_a_moment("logits", known // int(logits_of(policy)[0].dims[0].size), COPIES)
    if run.method.copied_logits:
        ledger.for_a_moment("logits", known // run.method.copied_logits, COPIES)
    ledger.free(held)
    return ledger.changes
