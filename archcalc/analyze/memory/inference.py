"""Inference's memory: weights, what is cached for so many tokens, and the fullest instant of reading the prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from archcalc.analyze.memory.option_checks import check_cache
from archcalc.analyze.memory.passes.loss_chunks import mark_logits
from archcalc.analyze.memory.profile import Played
from archcalc.analyze.memory.schedule import Unrolling, schedule
from archcalc.analyze.memory.simulate import Holding, Timeline
from archcalc.core.execution import never
from archcalc.core.ir import Module, ModuleGroup, Param, Tensor
from archcalc.core.precision import BYTES, Policy
from archcalc.storage.places import Place

LLAMA_CPP_BATCH = 512  # its --ubatch-size, unless a prompt is read in other pieces
LLAMA_CPP_PAGE = 256  # to a multiple of which it pads what a window keeps (llama-kv-cache-iswa.cpp)

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.run.options import Case
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
    kept = [(grows(one.tensor, work), size) for one, size in cached(memory, work)]
    check_cache({grown for grown, _ in kept}, memory.case)
    for grown, size in kept:
        base["kv_cache" if grown else "state"] += size
    prompt = _prompt(memory, work)
    root = memory.build(prompt)
    sizes = _sizes(memory, work, memory.keeps_cache)
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


def _sizes(memory: Memory, work: Workload, decodes: bool) -> Callable[[Tensor, Module], int]:
    """A cache is counted apart; a decoder's head sees the last position alone."""
    plan, policy = memory.case.plan, Policy(memory.case.activations)
    last = next(reversed(work.lengths), "")

    def size(tensor: Tensor, module: Module) -> int:
        if tensor.role == "cache":
            return 0
        here = plan.size(tensor)
        if decodes and module.group == ModuleGroup.HEAD:
            here //= next((int(dim.size) for dim in tensor.dims if dim.name == last), 1)
        return here * policy.bytes_of(tensor.role)

    return size


def cached(memory: Memory, work: Workload) -> list[tuple[Cached, int]]:
    """What a decoder keeps after so many tokens, op by op, with its bytes on one GPU."""
    if not memory.keeps_cache:
        return []
    *_, last = work.lengths
    step = replace(work, mode="decode", context=work.lengths[last] - 1, lengths={**work.lengths, last: 1})
    found = caches(memory.build(step))
    return [(one, one.times * _kept(one.tensor, memory.case, work, step.context + 1)) for one in found]


def _kept(tensor: Tensor, case: Case, work: Workload, length: int) -> int:
    """Bytes of one run. Engines round keys and values as they are told, and keep recurrent states apart."""
    kept = case.kv_format if grows(tensor, work) else case.state_format
    assert kept
    return kept.bytes_of(_elements(tensor, case, length))


def _elements(tensor: Tensor, case: Case, length: int) -> int:
    """On one GPU; of what a window keeps, as many positions as the rule says."""
    size, window = case.plan.size(tensor), window_of(tensor)
    return size // window * _positions(window, case, length) if window else size


def window_of(tensor: Tensor) -> int | None:
    """How many positions are kept, where a window or a chunk says so and not the length."""
    found = [dim for dim in tensor.dims if getattr(dim.size.expression, "name", "") in ("window", "chunk")]
    return int(found[0].size) if found else None


def _positions(window: int, case: Case, length: int) -> int:
    """Engines differ: transformers' StaticCache keeps the window, its DynamicCache one less, llama.cpp a batch more."""
    piece = case.prefill or LLAMA_CPP_BATCH
    pages = -(-min(window + piece, length) // LLAMA_CPP_PAGE)
    kept = {"window": window, "window-1": window - 1, "full": length}
    return min(kept[case.kv_rule], length) if case.kv_rule in kept else pages * LLAMA_CPP_PAGE


@dataclass(frozen=True)
class Cached:
    """What one op of a module keeps for later tokens, so many times."""

    tensor: Tensor
    module: Module
    times: int


def caches(module: Module, times: int = 1) -> Iterator[Cached]:
    """Everything that is kept, in the order in which it is computed."""
    times *= int(module.runs)
    for item in module.body if times else ():
        if isinstance(item, Module):
            yield from caches(item, times)
        elif item.output.role == "cache" and not item.output.base:
            yield Cached(item.output, module, times)


def is_tail(tensor: Tensor) -> bool:
    """The last positions that a causal convolution has seen."""
    return any(dim.name == "conv_state" for dim in tensor.dims)


def grows(tensor: Tensor, work: Workload) -> bool:
    """Keys and values: one for each position, where a recurrent state is as big for any number of them."""
    lengths = {*work.lengths, *(f"kv_{name}" for name in work.lengths), "window", "chunk"}
    return any(dim.name in lengths for dim in tensor.dims)
