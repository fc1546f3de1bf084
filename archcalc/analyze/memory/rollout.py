"""Who generates the completions of GRPO: the policy, or an inference engine on the same GPUs or on others.

Source: TRL, trl/generation/vllm_generation.py: a whole model on every GPU, asleep while training if sleep mode is on.
The completions of all micro-batches of a step are generated together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.analyze.memory.overhead import overhead
from archcalc.analyze.memory.residents import Resident
from archcalc.analyze.memory.simulated import Simulated
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.run.options import Options
from archcalc.simulate.ledger import Ledger
from archcalc.simulate.levels import Levels
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import decimal_bytes

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.core.later import Later
    from archcalc.run.resolved import Run
    from archcalc.simulate.reserved import DeviceMemory
    from archcalc.spec.workload import Workload

PHASE, NAME = "rollout", "rollout"
TITLE = "rollout engine"


def rollout(memory: Memory, work: Workload) -> Resident:
    """As the question says; on other GPUs it takes nothing here."""
    where = memory.run.method.rollout
    weights, cache = _engine(memory, work)
    parts = {"rollout": weights, "rollout_cache": cache}
    notes = (_note(memory, work),)
    if where == "other":
        return Resident(NAME, TITLE, elsewhere=weights + cache + overhead(memory.run), assumptions=notes)
    if where == "same":
        return Resident(NAME, TITLE, parts, assumptions=notes)
    return _in_turn(parts, notes, own_pool=where == "sleep")


def _in_turn(parts: dict[str, int], notes: tuple[Assumption, ...], *, own_pool: bool) -> Resident:
    """There before the step, and gone when it begins."""
    ledger = Ledger()
    ledger.at(PHASE, Module("model"))
    blocks = [ledger.allocate(part, size) for part, size in parts.items()]
    for block in blocks:
        ledger.free(block)
    return Resident(NAME, TITLE, {}, ledger.changes, "forward", own_pool=own_pool, assumptions=notes)


def _engine(memory: Memory, work: Workload) -> tuple[int, int]:
    """Bytes of weights and of KV cache. The policy needs no second copy of its weights, unless ZeRO-3 divides them."""
    run, asked = memory.run, memory.options
    engine = memory.another(memory.model, Options.of("memory", {"mode": "infer", "tp": asked.tp, "overhead": 0}))
    step = engine.simulated(Sizes(_sequences(memory, work), seq=max(work.lengths.values())))
    weights, cache = step.start["weights"], step.start["kv_cache"] + step.start["state"]
    if run.method.rollout == "policy":
        return weights if run.plan.zero == 3 else 0, cache
    if asked.rollout_memory is None:
        return weights, cache
    if asked.rollout_memory <= weights:
        fact = f"the weights alone take {decimal_bytes(weights)}"
        raise InputError(fact, "give the engine more memory, or leave it out", field="--rollout-memory")
    return weights, asked.rollout_memory - weights


def _sequences(memory: Memory, work: Workload) -> int:
    """An engine on other GPUs generates for all GPUs that train."""
    others = memory.run.plan.dp if memory.run.method.rollout == "other" else 1
    return work.batch * memory.run.accumulate * others


def _note(memory: Memory, work: Workload) -> Assumption:
    if memory.options.rollout_memory is not None:
        return Assumption(Topic.BESIDE, "rollout: all that the engine is given beyond its weights is KV cache")
    number = _sequences(memory, work)
    text = f"rollout: KV cache of {number:,} sequences at a time, all that a step needs, and nothing else of the engine"
    option = "" if memory.run.method.rollout == "policy" else "--rollout-memory"
    return Assumption(Topic.BESIDE, text, number, option)


def needs_more(run: Run, step: Simulated, device: Later[DeviceMemory]) -> bool:
    """Whether an engine that sleeps while training needs more than the step that PyTorch's allocator was simulated on:
    vLLM gives its memory back to the device (CuMemAllocator)."""
    if run.method.rollout != "sleep":
        return False
    peak = Levels(dict(step.start)).play(step.changes).peak
    return peak.bytes > device.value.reserved + step.start["overhead"]
