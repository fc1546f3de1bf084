"""A step of an inference engine: what it allocates besides the tensors of the layers.

Engines compute a bounded number of tokens at once. Fused experts compute in a workspace; behind the model a sampler
works on the logits of every request.
"""

from __future__ import annotations

from archcalc.core.ir import Module, ModuleGroup, Op, Param, Region, walk
from archcalc.core.positions import Positions
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.run.engine.rules import LatentWorkspace
from archcalc.run.resolved import Run
from archcalc.simulate.events import Block, Change
from archcalc.simulate.schedule import Schedule

MADE_BY_EXPERTS = {Role.EXPERT_GATE, Role.EXPERT_UP}


def experts_workspace(root: Module, run: Run) -> int:
    """Bytes that fused experts compute in, there in all of the step. That is two buffers that all layers share: one for
    gate and up of every chosen expert, one for what is in between; each with room for its answers, or the first alone.

    Source: vLLM, workspace_shapes of TritonExperts and MarlinExperts, vllm/model_executor/layers/fused_moe/experts."""
    is_once, workspace = not set(run.engine.weights).isdisjoint(run.engine.rules.answers_once), 0
    for experts in (module for module, _ in walk(root) if module.region == Region.EXPERTS):
        wide = answers = inner = 0
        for op in ops_in(experts):
            size = run.plan.size(op.output) * BYTES[run.activations]
            roles = {tensor.weight_role for tensor in op.inputs if isinstance(tensor, Param)}
            if roles & MADE_BY_EXPERTS:
                wide, inner = wide + size, size
            elif Role.EXPERT_DOWN in roles:
                answers = size
        workspace = max(workspace, max(wide, answers) + max(inner, answers * (not is_once)))
    return workspace


def sampling(root: Module, run: Run, batch: int, residual: int, held: int) -> list[Change]:
    """Choosing a token for every request, once the layers are done, from one tensor of the residual stream; `held` are
    the bytes that layers have let go of by then. An engine without a pool is ready for as many requests as `batch`."""
    rule, engine = run.engine.sampler, run.engine
    if rule is None or not engine.has_steps:
        return []
    logits = _scores(root)
    rows = (rule.every_position and engine.tokens) or (engine.requests if engine.fills_device else batch)
    size = rows * logits * (BYTES[run.activations] + rule.bytes_per_logit)
    size += rule.kernel_rows * logits * BYTES["fp32"] + residual - held
    block = Block("activations", size, use="sampler")
    return [Change("activations", sign * size, "forward", root, block) for sign in (1, -1) if size > 0]


def kept_by_sampler(root: Module, run: Run) -> int:
    """Bytes that it keeps of every request, whether it runs or not: how often each token was said, for penalties.

    Source: vLLM, PenaltiesState in vllm/v1/worker/gpu/sample/penalties.py."""
    rule = run.engine.sampler
    return rule.kept_bits * run.engine.requests * _scores(root) // 8 if rule and run.engine.fills_device else 0


def _scores(root: Module) -> int:
    """Those of one position; every GPU of a tensor-parallel group gathers all of them."""
    heads = [op for module, _ in walk(root) if module.group == ModuleGroup.HEAD for op in module.ops]
    return max((int(op.output.dims[-1].size) for op in heads if op.traits.contraction), default=0)


def expand_latent(schedule: Schedule, run: Run, positions: int, rule: LatentWorkspace) -> Schedule:
    """A pass: keys and values that latent attention expands of its cache get as long as what the engine sets aside for
    them, and what else attention makes along cached positions is gone.

    Source: vLLM, MLAAttention in vllm/model_executor/layers/attention/mla_attention.py, where a step is tried."""
    expanding = [step for step in schedule.steps() if _expands(step.op)]
    attention = {step.module.parent for step in expanding}
    tokens = rule.tokens(positions, run.engine.requests)
    for step in schedule.steps():
        for cell in step.makes:
            along = next((int(dim.size) for dim in cell.tensor.dims if dim.positions is Positions.PAST), 0)
            if along and cell.tensor.role != "cache" and not attention.isdisjoint((step.module, step.module.parent)):
                each = run.plan.size(cell.tensor) // along * BYTES[run.activations] if _expands(step.op) else 0
                schedule.bytes[cell] = each * tokens
    return schedule


def _expands(op: Op) -> bool:
    return any(isinstance(tensor, Param) and tensor.weight_role is Role.ATTENTION_KV_UP for tensor in op.inputs)
