"""The choices of a run that an answer shows: sizes, then what the model's layers have a use for."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from archcalc.core.ir import Region, walk
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.kernels import EAGER
from archcalc.run.resolved import Run
from archcalc.run.size_choices import size_choices
from archcalc.spec.workload import Workload

NOT_FUSED = "eager attention: no fused kernel computes this model's scores, so they are stored"


def shown_choices(run: Run, work: Workload, model: Network, given: Collection[str]) -> tuple[Choice, ...]:
    """In the order of the first line; `given` are the options that were, sizes among them."""
    return (*size_choices(work, given), *of_model(run, model))


def of_model(run: Run, model: Network) -> Iterator[Choice]:
    """Attention is computed by a kernel where there is attention, and where a kernel can compute it."""
    root = model.build(model.workload(attention="flash"))
    cores = [module for module, _ in walk(root) if module.region == Region.CORE]
    has_kernel = any(op.traits.attention_kernel for core in cores for op in core.ops)
    for each in run.choices:
        if each.name != "attention" or has_kernel:
            yield each
        elif cores:
            yield Choice(each.name, "eager", EAGER, Reason.MODEL, NOT_FUSED, is_fixed=True)
