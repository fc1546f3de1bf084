"""What PyTorch's CPU allocator gives out and takes back while real tensors are trained, without any dispatch mode.

The profiler reports each allocation with the op inside which it happened. What a kernel of the CPU takes for itself
and gives back before it ends is left out: a GPU's kernel has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import torch
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile, record_function

from archcalc.reference.lifetimes import Birth, Event, Phase

PHASE = "phase "
HOST = {4, 8, 5056}  # a number, and a state of the CPU's random numbers, which checkpointing keeps on the host
Sizes = dict[str, list[int]]  # by phase, in order; negative when given back


def allocations(run: Callable[[Callable[[str, int], None]], None], kernels: set[str]) -> Sizes:
    """`run` is told how a phase begins; `kernels` are the ops that a dispatch mode sees as one."""

    def begin(name: str, step: int) -> None:
        with record_function(f"{PHASE}{name} {step}"):
            pass

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run(begin)
    return _by_phase(_in_order(seen, kernels))


def _in_order(seen: Any, kernels: set[str]) -> list[Any]:
    """Phases and allocations by time, each with the number of the kernel around it."""
    roots = seen.profiler.kineto_results.experimental_event_tree()
    return sorted(_flat(roots, kernels, None), key=lambda found: found[0].start_time_ns)


def _flat(nodes: Any, kernels: set[str], around: Any) -> Iterator[tuple[Any, Any]]:
    for node in nodes:
        inside = node.id if around is None and node.name in kernels else around
        if node.tag == _EventType.Allocation or node.name.startswith(PHASE):
            yield node, inside
        yield from _flat(node.children, kernels, inside)


def _by_phase(found: list[Any]) -> Sizes:
    sizes, phase, own = Sizes(), "", _own(found)
    for place, (node, _) in enumerate(found):
        if node.name.startswith(PHASE):
            phase = node.name.removeprefix(PHASE)
            sizes[phase] = []
        elif phase and place not in own and abs(node.extra_fields.alloc_size) not in HOST:
            sizes[phase].append(node.extra_fields.alloc_size)
    return sizes


def _own(found: list[Any]) -> set[int]:
    """Places of what one run of a kernel takes and gives back itself."""
    taken: dict[Any, int] = {}
    own = set[int]()
    for place, (node, kernel) in enumerate(found):
        if node.name.startswith(PHASE) or kernel is None:
            continue
        key = kernel, node.extra_fields.ptr
        if node.extra_fields.alloc_size > 0:
            taken[key] = place
        elif key in taken:
            own |= {place, taken.pop(key)}
    return own


def sizes_of(events: list[Event]) -> Sizes:
    """The same of what a dispatch mode saw."""
    sizes, phase = Sizes(), ""
    for event in events:
        if isinstance(event, Phase):
            phase = f"{event.name} {event.step}"
            sizes[phase] = []
        elif phase and event.storage.bytes not in HOST:
            sizes[phase].append(event.storage.bytes * (1 if isinstance(event, Birth) else -1))
    return sizes


def kernels_of(events: list[Event]) -> set[str]:
    """The profiler's names of ops that made something."""
    made = [event.storage.op.split(".") for event in events if isinstance(event, Birth)]
    return {f"{op[0]}::{op[1]}" for op in made if len(op) > 1}


def unordered(found: Sizes) -> dict[str, list[Any]]:
    """What is made in one go in no order: kernels of devices differ in which of their results they make first."""
    return {phase: _together(sizes) for phase, sizes in found.items()}


def _together(sizes: list[int]) -> list[Any]:
    runs = [(is_made, list(run)) for is_made, run in groupby(sizes, lambda size: size > 0)]
    return [sorted(run) if is_made else run for is_made, run in runs]


def zeroed(model: torch.nn.Module) -> None:
    """Numbers that can be looked up and computed with."""
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.zero_()
