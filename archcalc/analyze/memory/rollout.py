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
from archcalc.run.options import Options
from archcalc.run.resolved import Run
from archcalc.simulate.events import Ledger
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import binary_bytes
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
    """As the question says; `engine` has the bytes of the engine's own parts. On other GPUs it takes nothing here. The
    policy needs no second copy of its weights, unless ZeRO-3 divides them."""
    where, cache, given = run.method.rollout, engine["kv_cache"] + engine["state"], asked.rollout_memory
    weights = 0 if where == "policy" and run.plan.zero != 3 else engine["weights"]
    if given is not None and where != "policy":
        if given <= weights:
            fact = f"the weights alone take {binary_bytes(weights)}"
            raise InputError(fact, "give the engine more memory, or leave it out", field="--rollout-memory")
        cache = given - weights
    note = Assumption(Topic.BESIDE, "rollout: all that the engine is given beyond its weights is KV cache")
    if given is None:
        number = rollout_sizes(run, work).batch
        at_once = f"{number:,} sequences at a time, all that a step needs, and nothing else of the engine"
        option = "" if where == "policy" else "--rollout-memory"
        note = Assumption(Topic.BESIDE, f"rollout: KV cache of {at_once}", number, option)
    parts = {"rollout": weights, "rollout_cache": cache}
    if where == "other":
        return Resident(NAME, TITLE, elsewhere=weights + cache + overhead(run), assumptions=(note,))
    if where == "same":
        return Resident(NAME, TITLE, parts, assumptions=(note,))
    ledger = Ledger(PHASE)  # there before the step, and gone when it begins
    ledger.free(*[ledger.allocate(part, size, "rollout engine") for part, size in parts.items()])
    return Resident(NAME, TITLE, {}, ledger.changes, "forward", own_pool=where == "sleep", assumptions=(note,))
