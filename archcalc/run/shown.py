"""The choices of a run that an answer shows: what the model's layers have a use for."""

from __future__ import annotations

from archcalc.core.ir import Module, Region, walk
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.kernels import EAGER
from archcalc.run.resolved import Run

NOT_FUSED = "eager attention: no fused kernel computes this model's scores, so they are stored"


def shown_choices(run: Run, network: Network, root: Module) -> tuple[Choice, ...]:
    """Attention is computed by a kernel where there is attention, and where a kernel can compute it. `root` is a
    pass of the model itself, as the run traces it: one without a kernel may have been asked for so."""
    cores = [module for module, _ in walk(root) if module.region == Region.CORE]
    has_kernel = any(op.traits.attention_kernel for core in cores for op in core.ops)
    if cores and not has_kernel:
        fused = network.build(network.workload(attention="flash"))
        ops = (op for module, _ in walk(fused) if module.region == Region.CORE for op in module.ops)
        has_kernel = any(op.traits.attention_kernel for op in ops)
    if has_kernel:
        return run.choices
    eager = [Choice("attention", "eager", EAGER, Reason.MODEL, NOT_FUSED, is_fixed=True)] if cores else []
    places = [[each] if each.name != "attention" else eager for each in run.choices]
    return tuple(each for place in places for each in place)
