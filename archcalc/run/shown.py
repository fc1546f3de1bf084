"""The choices of a run that an answer shows: what the model's layers have a use for, and before that batch and lengths,
asked for, from the model's files, or assumed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from archcalc.core.ir import Module, Region, walk
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.kernels import EAGER
from archcalc.run.resolved import Run
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload

SIZES = tuple(vars(Sizes()))  # the names of their options
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


def size_choices(work: Workload, given: Collection[str]) -> Iterator[Choice]:
    """`batch 1`, `seq 2,048`; `given` are the options that were."""
    assumed = {str(note.topic) for note in work.assumptions if note.option}
    last = next(reversed(work.lengths), "")  # whose length is the context of a decode step
    sizes = {"batch": work.batch, **work.lengths}
    if work.decodes:  # in the place of the one token that is computed
        sizes = {name: size for name, size in sizes.items() if name != last} | {"context": work.context}
    for name, size in sizes.items():
        names = {name, last} if name == "context" else {name}
        reason = Reason.MODEL
        if not names.isdisjoint(assumed):
            reason = Reason.ARCHCALC
        elif not names.isdisjoint(given) or (name != "batch" and not {"seq", "context"}.isdisjoint(given)):
            reason = Reason.ASKED
        yield Choice(name, size, f"{name} {size:,}", reason)
