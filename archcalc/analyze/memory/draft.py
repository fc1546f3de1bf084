"""Speculative decoding: a draft model beside the target, or the target's own multi-token prediction blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.inference import cache_after
from archcalc.analyze.memory.residents import Resident, in_phase
from archcalc.analyze.memory.simulated import Simulated
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, walk
from archcalc.core.roles import Role
from archcalc.run.resolved import Run
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload

OWN_BLOCKS = "mtp"
NOT_OF_A_DRAFT = ("draft", "adapters", "lora", "lora_targets", "precision", "weights", "state_dtype")
PROPOSED = Assumption(Topic.BESIDE, "tokens that are proposed and not yet accepted count among the context")


def drafting(target: Deployment) -> Deployment:
    """The model that `--draft` names, over the target's GPUs; whole on each of them if it cannot be divided so."""
    name, own = target.options.draft, target.network
    assert name
    model = own.another(name, "--draft")
    if list(model.resolved.lengths) != list(own.resolved.lengths) or len(model.resolved.lengths) != 1:
        hint = "name a decoder with the target's vocabulary"
        raise InputError(f"{model.name} cannot propose tokens for {own.name}", hint, field="--draft")
    unset: dict[str, Any] = dict.fromkeys(NOT_OF_A_DRAFT)
    asked = replace(target.options, **unset, overhead=0)
    try:
        return deploy(model, asked)
    except InputError:
        if (asked.tp or 1) == 1:
            raise
        return deploy(model, replace(asked, tp=None))


def draft_sizes(work: Workload) -> Sizes:
    """The target's sequences."""
    (length,) = work.lengths.values()
    return Sizes(work.batch, context=work.context) if work.decodes else Sizes(work.batch, seq=length)


def draft_model(target: Deployment, draft: Deployment, step: Simulated) -> Resident:
    """Its weights, as they are stored, and its KV cache for the same sequences; `step` is the draft's own."""
    held = {"draft": step.start["weights"], "draft_cache": step.start["kv_cache"] + step.start["state"]}
    title, stored, gpus = f"draft model: {draft.network.name}", draft.run.format.name, target.run.plan.tp
    text = f"draft model: weights in {stored}, and a KV cache for the same sequences"
    notes = [PROPOSED, Assumption(Topic.BESIDE, text, stored)]
    if draft.run.plan.tp < gpus:
        text = f"draft model: {gpus} GPUs cannot divide it, so that each holds all of it"
        notes.append(Assumption(Topic.BESIDE, text, draft.run.plan.tp))
    return Resident("draft", title, held, in_phase(step.changes, "draft"), assumptions=tuple(notes))


def own_blocks(root: Module, work: Workload, run: Run) -> Resident:
    """The target's blocks that predict further tokens: their weights are among the model's, their KV cache is not."""
    # the module of the blocks, which joins hidden states and tokens by a matrix of its own
    joining = (
        module for module, _ in walk(root) for one in module.params.values() if one.weight_role is Role.FURTHER_TOKENS
    )
    blocks = next((module.parent for module in joining), None)
    if blocks is None:
        hint = "add --set head.mtp.blocks=1 if its checkpoint has one, or name a draft model"
        raise InputError("the model has no multi-token prediction block", hint, field="--draft")
    inside = [child for child in blocks.children if not child.is_section]
    kept = [one for child in inside for one in cache_after(child, work, run)]
    cache = int(blocks.repeat) * sum(one.bytes for one in kept)
    text = "multi-token prediction: its weights are among the model's"
    notes = PROPOSED, Assumption(Topic.BESIDE, text, int(blocks.repeat))
    return Resident("draft", "multi-token prediction", {"draft_cache": cache}, assumptions=notes)
