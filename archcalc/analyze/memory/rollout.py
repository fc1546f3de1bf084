"""Who generates the completions of GRPO: the policy, or an inference engine on the same GPUs or on others.

Source: TRL, trl/generation/vllm_generation.py: a whole model on every GPU, asleep while training if sleep mode is on.
The completions of all micro-batches of a step are generated together.
"""

from __future__ import annotations

from typing import Any

from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.overhead import overhead
from archcalc.analyze.memory.residents import Resident
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.run.options import Options
from archcalc.run.resolved import Run
from archcalc.simulate.events import Ledger
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import decimal_bytes
from archcalc.spec.workload import Workload

PHASE, NAME = "rollout", "rollout"
TITLE = "rollout engine"
WITH_ENGINE = ("policy", "same", "sleep", "other")  # where completions are generated


def rollout_engine(policy: Deployment) -> Deployment:
    """The engine that generates the policy's completions, divided among GPUs as the policy is."""
    asked: dict[str, Any] = {"mode": "infer", "tp": policy.options.tp, "overhead": 0}
    return deploy(policy.network, Options.of("memory", asked))


def rollout_sizes(run: Run, work: Workload) -> Sizes:
    """All sequences of a step; an engine on other GPUs generates for all GPUs that train."""
    others = run.plan.dp if run.method.rollout == "other" else 1
    return Sizes(work.batch * run.accumulate * others, seq=max(work.lengths.values()))


def rollout(run: Run, asked: Options, work: Workload, engine: dict[str, int]) -> Resident:
    """As the question says; `engine` has the bytes of the engine's own parts. On other GPUs it takes nothing here."""
    where = run.method.rollout
    weights, cache = _weights(run, engine["weights"]), engine["kv_cache"] + engine["state"]
    if asked.rollout_memory is not None and where != "policy":
        cache = _pool(asked.rollout_memory, weights)
    notes = (_note(run, asked, rollout_sizes(run, work)),)
    parts = {"rollout": weights, "rollout_cache": cache}
    if where == "other":
        return Resident(NAME, TITLE, elsewhere=weights + cache + overhead(run), assumptions=notes)
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


def _weights(run: Run, weights: int) -> int:
    """The policy needs no second copy of its weights, unless ZeRO-3 divides them."""
    return 0 if run.method.rollout == "policy" and run.plan.zero != 3 else weights


def _pool(given: int, weights: int) -> int:
    """What is left to the KV cache of the memory that the engine is given."""
    if given <= weights:
        fact = f"the weights alone take {decimal_bytes(weights)}"
        raise InputError(fact, "give the engine more memory, or leave it out", field="--rollout-memory")
    return given - weights


def _note(run: Run, asked: Options, sizes: Sizes) -> Assumption:
    if asked.rollout_memory is not None:
        return Assumption(Topic.BESIDE, "rollout: all that the engine is given beyond its weights is KV cache")
    number = sizes.batch
    text = f"rollout: KV cache of {number:,} sequences at a time, all that a step needs, and nothing else of the engine"
    option = "" if run.method.rollout == "policy" else "--rollout-memory"
    return Assumption(Topic.BESIDE, text, number, option)
