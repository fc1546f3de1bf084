"""Speculative decoding: a draft model beside the target, or the target's own multi-token prediction blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from archcalc.analyze.memory import inference
from archcalc.analyze.memory.residents import Resident, in_phase
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, walk
from archcalc.core.roles import Role
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.spec.workload import Workload

OWN_BLOCKS = "mtp"
NOT_OF_A_DRAFT = ("draft", "adapters", "lora", "lora_targets", "precision", "weights", "state_dtype")
PROPOSED = Assumption(Topic.BESIDE, "tokens that are proposed and not yet accepted count among the context")


def draft(memory: Memory, work: Workload) -> Resident:
    """What proposes tokens for the model of `memory`."""
    name = memory.options.draft
    assert name
    return _own_blocks(memory, work) if name == OWN_BLOCKS else _model(memory, work, name)


def _model(memory: Memory, work: Workload, name: str) -> Resident:
    """Its weights, as they are stored, and its KV cache for the same sequences."""
    model = memory.model.another(name, "--draft")
    if list(model.resolved.lengths) != list(memory.model.resolved.lengths) or len(model.resolved.lengths) != 1:
        hint = "name a decoder with the target's vocabulary"
        raise InputError(f"{model.name} cannot propose tokens for {memory.model.name}", hint, field="--draft")
    unset: dict[str, Any] = dict.fromkeys(NOT_OF_A_DRAFT)
    asked = replace(memory.options, **unset, overhead=0)
    other = _divided(memory, name, asked)
    step = other.simulated(_sizes(work))
    weights, cache = step.start["weights"], step.start["kv_cache"] + step.start["state"]
    held = {"draft": weights, "draft_cache": cache}
    notes = tuple(_notes(memory, other))
    return Resident("draft", f"draft model: {model.name}", held, in_phase(step.changes, "draft"), assumptions=notes)


def _divided(memory: Memory, name: str, asked: Options) -> Memory:
    """Over the same GPUs; whole on each of them if it cannot be divided so."""
    model = memory.model.another(name, "--draft")
    try:
        found = memory.another(model, asked)
        _ = found.parameters  # for its errors
    except InputError:
        if (asked.tp or 1) == 1:
            raise
        found = memory.another(model, replace(asked, tp=None))
    return found


def _sizes(work: Workload) -> Sizes:
    (length,) = work.lengths.values()
    return Sizes(work.batch, context=work.context) if work.decodes else Sizes(work.batch, seq=length)


def _notes(memory: Memory, other: Memory) -> Iterator[Assumption]:
    yield PROPOSED
    text = f"draft model: weights in {other.run.format.name}, and a KV cache for the same sequences"
    yield Assumption(Topic.BESIDE, text, other.run.format.name)
    if other.run.plan.tp < memory.run.plan.tp:
        text = f"draft model: {memory.run.plan.tp} GPUs cannot divide it, so that each holds all of it"
        yield Assumption(Topic.BESIDE, text, other.run.plan.tp)


def _own_blocks(memory: Memory, work: Workload) -> Resident:
    """Their weights are among the model's; their KV cache is not."""
    step = inference.last_step(work)
    blocks = _further(memory.build(step))
    if blocks is None:
        hint = "add --set head.mtp.blocks=1 if its checkpoint has one, or name a draft model"
        raise InputError("the model has no multi-token prediction block", hint, field="--draft")
    inside = [child for child in blocks.children if not child.is_section]
    kept = [one for child in inside for one in inference.cache_after(child, step, memory.run)]
    cache = int(blocks.repeat) * sum(one.bytes for one in kept)
    text = "multi-token prediction: its weights are among the model's"
    notes = PROPOSED, Assumption(Topic.BESIDE, text, int(blocks.repeat))
    return Resident("draft", "multi-token prediction", {"draft_cache": cache}, assumptions=notes)


def _further(root: Module) -> Module | None:
    """The module of the blocks, which joins hidden states and tokens by a matrix of its own."""
    joining = (module for module, _ in walk(root) if any(_joins(param.weight_role) for param in module.params.values()))
    return next((module.parent for module in joining), None)


def _joins(role: Role | None) -> bool:
    return role is Role.FURTHER_TOKENS
