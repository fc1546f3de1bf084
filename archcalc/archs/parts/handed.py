"""What a part is handed beside what it reads: a memory, a start, a context, each of a shape that can be one."""

from __future__ import annotations

from archcalc.archs.parts.flow import Flow, Given
from archcalc.core.errors import InputError


def check(given: Given[Flow]) -> None:
    _check_present(given)
    numbers = {flow.number for flow in given.reads}
    for field in ("memory", "start", "context"):
        flow = getattr(given, field)
        if not flow:
            continue
        if flow.shape.is_ids:
            hint = "name a part that reads them, such as `{embedding: 64, vocab: 1000}`"
            raise InputError(f"the ids of {flow} cannot be a {field}", hint, fields=[(field,)])
        if field == "memory":
            _check_memory(flow, numbers)
        elif numbers != {flow.number}:
            fact = f"{flow} cannot be the {field} of {given.reads[0]}"
            raise InputError(fact, "give one for each sample", fields=[(field,)])
    if given.context and (given.context.shape.sides or given.context.shape.is_sequence):
        hint = "pool it, such as `head: {pool: last}`, or use `memory` with attention"
        raise InputError(f"a context is a vector, and {given.context} comes in", hint, fields=[("context",)])


def _check_present(given: Given[Flow]) -> None:
    """What does not come in may be missing from a sequence that has tokens besides, and nowhere else."""
    others = [flow for flow in (given.memory, given.start, given.context) if flow]
    joins = any(flow.shape.is_ids for flow in given.reads)
    is_missing = [flow.is_absent for flow in (*others, *(() if joins else given.reads))]
    if any(is_missing) and not all((*is_missing, *(flow.is_absent for flow in given.reads))):
        raise InputError("a part of the model needs an image that is not there", "ask for one at least", fields=[()])


def _check_memory(flow: Flow, numbers: set[int]) -> None:
    if not flow.has_positions:
        hint = "make it a sequence, such as `layers: [sequence]`"
        raise InputError(f"attention looks at positions, and {flow} comes in", hint, fields=[("memory",)])
    if numbers not in ({1}, {flow.number}):
        fact = f"{flow} comes in as memory for {max(numbers)} in each sample"
        raise InputError(fact, "let both have as many of them, or the reader one", fields=[("memory",)])
