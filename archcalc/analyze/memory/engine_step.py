"""A step of an inference engine: what it allocates besides the tensors of the layers.

Engines compute a bounded number of tokens at once. While a layer runs, calling functions hold tensors of the residual
stream; fused experts compute in a workspace; behind the model a sampler works on the logits of every request.
"""

from __future__ import annotations

from archcalc.core.ir import Module, ModuleGroup, Op, Param, Region, walk
from archcalc.core.precision import BYTES, Policy
from archcalc.core.roles import Role
from archcalc.core.tree import enclosing, ops_in
from archcalc.run.resolved import Run
from archcalc.simulate.events import Block, Change

MADE_BY_EXPERTS = {Role.EXPERT_GATE, Role.EXPERT_UP}


def beside_layers(root: Module, run: Run) -> int:
    """Bytes that are there in all of the step: what functions hold, and the workspace of fused experts. That is two
    buffers that all layers share: gate and up of every chosen expert, or its answers; and what is in between.

    Source: vLLM, fused_experts in vllm/model_executor/layers/fused_moe/fused_moe.py."""
    rules, workspace = run.engine.rules, 0
    regions = [module for module, _ in walk(root) if module.region == Region.EXPERTS]
    for experts in regions if rules.fuses_experts else ():
        wide = answers = inner = 0
        for op in ops_in(experts):
            size = run.plan.size(op.output) * BYTES[run.activations]
            roles = {tensor.weight_role for tensor in op.inputs if isinstance(tensor, Param)}
            if roles & MADE_BY_EXPERTS:
                wide, inner = wide + size, size
            elif Role.EXPERT_DOWN in roles:
                answers = size
        workspace = max(workspace, max(wide, answers) + inner)
    return rules.held * _residual(root, run) + workspace


def is_fused(module: Module, run: Run) -> bool:
    """Whether a layer computes inside of a kernel; what experts compute in is counted once for all layers."""
    rules = run.engine.rules
    regions = {Region.EXPERTS: rules.fuses_experts, Region.INDEXER: rules.fuses_indexer}
    return any(fuses and enclosing(module, region) for region, fuses in regions.items())


def sampling(root: Module, run: Run, masked: int = 0) -> list[Change]:
    """Choosing a token for every request, once the layers are done; `masked` are the bytes of attention's masks."""
    rule, engine = run.engine.rules.sampler, run.engine
    if rule is None or not engine.has_steps:
        return []
    # scores for one position; every GPU of a tensor-parallel group gathers all of them
    heads = [op for module, _ in walk(root) if module.group == ModuleGroup.HEAD for op in module.ops]
    logits = max((int(op.output.dims[-1].size) for op in heads if op.traits.contraction), default=0)
    rows, residual = (rule.every_position and engine.tokens) or engine.requests, _residual(root, run)
    size = rows * logits * (BYTES[run.activations] + rule.bytes_per_logit)
    size += rule.kernel_rows * logits * BYTES["fp32"] + residual
    size -= run.engine.rules.held * residual + masked  # which layers have let go of by then
    block = Block("activations", size)
    return [Change("activations", sign * size, "forward", root, block) for sign in (1, -1) if size > 0]


def layers_of(root: Module) -> int:
    """How many blocks a forward pass runs through."""
    return sum(int(copies) for module, copies in walk(root) if module.region == Region.BLOCK)


def _residual(root: Module, run: Run) -> int:
    """One tensor of the residual stream."""
    policy, blocks = Policy(run.activations), (module for module, _ in walk(root) if module.region == Region.BLOCK)
    found = (item.output for block in blocks for item in block.body if isinstance(item, Op))
    return max((run.plan.size(tensor) * policy.bytes_of(tensor.role) for tensor in found), default=0)
