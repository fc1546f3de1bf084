"""Which options make sense for a model: an option about something that it does not have is a mistake."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Region, walk
from archcalc.run.case import Case
from archcalc.run.sequence_parallel import check_length
from archcalc.spec.workload import Workload


def check_sense(root: Module, case: Case) -> None:
    """Refuse to answer about blocks, attention, a cache or a vocabulary that is not there."""
    if case.trains and not root.body:
        hint = "give the model's config.json or a spec"
        raise InputError("a file of weights does not say what is computed with them", hint, field="--mode")
    regions = {module.region for module, _ in walk(root)}
    ops = [op for module, _ in walk(root) for op in module.ops]
    has_logits = any(op.traits.loss_of_logits for op in ops)
    has_cache = any(op.output.role == "cache" for op in ops)
    whole = case.recompute in ("block", "ops")
    _need(Region.BLOCK in regions or not whole, "--recompute", "this model has no blocks to recompute")
    _need(Region.CORE in regions or case.recompute != "core", "--recompute", "this model has no attention to recompute")
    _need(Region.CORE in regions or "attention" not in case.said, "--attention", "this model has no softmax attention")
    _need(has_logits or case.loss_chunks == 1, "--loss-chunks", "this model has no logits over a vocabulary")
    _need(has_cache or case.mode != "decode", "--mode", "this model has no cache and no decode step")
    for name in ("kv_dtype", "kv_rule", "state_dtype", "prefill"):
        option = f"--{name.replace('_', '-')}"
        _need(has_cache or name not in case.said, option, "this model has no cache and no decode step")


def check_sizes(work: Workload, case: Case) -> None:
    """Refuse more parts than there are positions."""
    longest = max(map(int, work.lengths.values()), default=1)
    positions = int(work.batch) * longest
    if case.loss_chunks > positions:
        fact = f"{case.loss_chunks:,} chunks of {positions:,} positions: some would be empty"
        raise InputError(fact, f"use at most {positions:,}, such as --loss-chunks 8", field="--loss-chunks")
    check_length(work, case.plan.cp)


def check_cache(grown: set[bool], case: Case) -> None:
    """Refuse to answer about keys and values, or about a state, where a decoder keeps only the other."""
    _need(
        True in grown or "kv_dtype" not in case.said, "--kv-dtype", "this model has no KV cache, but a recurrent state"
    )
    _need(
        False in grown or "state_dtype" not in case.said,
        "--state-dtype",
        "this model has no recurrent state, but a KV cache",
    )


def _need(fine: bool, option: str, fact: str) -> None:
    if not fine:
        raise InputError(fact, f"leave {option} out", field=option)
