"""Inference's memory: weights, what is cached for so many tokens, and the fullest instant of reading the prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import Cached, CacheFormats, cached
from archcalc.analyze.memory.option_checks import check_cache
from archcalc.analyze.memory.passes.loss_chunks import mark_logits
from archcalc.analyze.memory.profile import Played
from archcalc.analyze.memory.schedule import Unrolling, schedule
from archcalc.analyze.memory.simulate import Holding, Timeline
from archcalc.core.execution import never
from archcalc.core.ir import Module, ModuleGroup, Param, Tensor
from archcalc.core.positions import Positions
from archcalc.core.precision import BYTES, Policy
from archcalc.storage.places import Place

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.spec.workload import Workload

NOTHING = Holding(
    gradient=lambda param: 0,
    kept_gradient=lambda param: 0,
    summed=lambda param: 0,
    rounding=0,
    copy=lambda param: 0,
    copy_stays=lambda param: False,
    copies_are_cached=False,
    gathered=lambda module: 0,
    accumulates=False,
    reduces=False,
    update=0,
    live="activations",
)


def played(memory: Memory, work: Workload, base: dict[str, int]) -> Played:
    """Prefill, with the whole cache in place."""
    cache = cache_after(memory, work)
    check_cache({one.grows for one in cache}, memory.case)
    for one in cache:
        base["kv_cache" if one.grows else "state"] += one.bytes
    prompt = _prompt(memory, work)
    root = memory.build(prompt)
    sizes = _sizes(memory, memory.keeps_cache)
    nodes = schedule(Unrolling(Policy(memory.case.activations), never, sizes).run(root), [mark_logits])
    timeline = Timeline(nodes, replace(NOTHING, copy=_widened(memory, prompt)), trains=False)
    return Played(base, timeline.sink)


def _widened(memory: Memory, prompt: Workload) -> Callable[[Param], int]:
    """bitsandbytes' MatMul4Bit widens a matrix for its product, unless a single token is read."""
    case = memory.case
    several = prompt.batch * max(prompt.lengths.values(), default=1) > 1

    def copies(param: Param) -> int:
        kept = several and case.format.widened and case.format.holds(Place(param, 1))
        return case.format.widened * case.plan.size(param) * BYTES[case.activations] if kept else 0

    return copies


def _prompt(memory: Memory, work: Workload) -> Workload:
    """What is read at once: everything, or as many tokens as a piece of the prompt has."""
    piece = memory.case.prefill
    return replace(work, lengths={name: min(length, piece) for name, length in work.lengths.items()}) if piece else work


def _sizes(memory: Memory, decodes: bool) -> Callable[[Tensor, Module], int]:
    """A cache is counted apart; a decoder's head sees the last position alone."""
    plan, policy = memory.case.plan, Policy(memory.case.activations)

    def size(tensor: Tensor, module: Module) -> int:
        if tensor.role == "cache":
            return 0
        here = plan.size(tensor)
        if decodes and module.group == ModuleGroup.HEAD:
            here //= next((int(dim.size) for dim in tensor.dims if dim.positions is Positions.SEQUENCE), 1)
        return here * policy.bytes_of(tensor.role)

    return size


def cache_after(memory: Memory, work: Workload) -> list[Cached]:
    """What a decoder keeps after so many tokens."""
    if not memory.keeps_cache:
        return []
    case = memory.case
    assert case.kv_format and case.state_format
    *_, last = work.lengths
    step = replace(work, mode="decode", context=work.lengths[last] - 1, lengths={**work.lengths, last: 1})
    formats = CacheFormats(case.kv_format, case.state_format, case.kv_rule, case.prefill, case.plan)
    return cached(memory.build(step), step, formats)
