"""Why a step needs the most at its peak, in one sentence: what is alive there together, summed up from the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from archcalc.analyze.memory.timeline import Alive, Timeline
from archcalc.core.words import enumeration
from archcalc.spec.units import binary_bytes

ENOUGH = 0.9  # of what comes and goes: what is besides that and SMALL is not told
SMALL = 0.02
MOST = 4


def why_peak(line: Timeline, names: Mapping[str, str]) -> str:
    """`The peak is in the backward pass of loss, at log softmax, with activations of 12 × decoder.blocks (1.00 GiB), …
    alive at once, on top of weights (1.89 GiB).` `names` are those of parts."""
    standing = sorted(((size, names[part]) for part, size in line.start.items() if size), reverse=True)
    under = (
        f"{enumeration(name for _, name in standing)} ({binary_bytes(sum(line.start.values()))})" if standing else ""
    )
    if not line.ops:
        return f"Nothing is computed: {under or 'nothing'} is all there is."
    told = _told(line)
    if not told:
        return f"The peak is {_where(line)}, which needs nothing besides {under}."
    alive = f"{enumeration(told)} alive{' at once' * (len(told) > 1)}"
    return f"The peak is {_where(line)}, with {', on top of '.join(filter(None, (alive, under)))}."


def _where(line: Timeline) -> str:
    op = line.ops[line.peak]
    if op.phase == "step":
        return "in the optimizer's step"
    layers = max(one.layer for one in line.ops if one.path == op.path)
    layer = f", layer {op.layer:,} of {layers:,}" * bool(op.layer)
    return f"in the {op.phase} pass of {op.path}{layer}{f', at {op.op}' * bool(op.op)}"


def _told(line: Timeline) -> list[str]:
    """The largest kinds with their bytes, until they are enough."""
    alive = sorted(line.alive(line.peak), key=lambda one: (one[0].kind, one[0].place))
    kinds = [list(same) for _, same in groupby(alive, key=lambda one: (one[0].kind, one[0].place))]
    sized = sorted(((sum(number * one.bytes for one, number in kind), kind) for kind in kinds), key=lambda one: -one[0])
    found, told, whole = list[str](), 0, sum(size for size, _ in sized)
    for size, kind in sized[:MOST]:
        if told >= ENOUGH * whole and size < SMALL * whole:
            break
        found.append(f"{_named(kind, line)} ({binary_bytes(size)})")
        told += size
    return found


def _named(kind: list[tuple[Alive, int]], line: Timeline) -> str:
    """`logits in fp32`, `activations of 12 × decoder.blocks`."""
    first, dtypes = kind[0][0], {one.dtype for one, _ in kind}
    most = max(number for _, number in kind)
    copies = f"{most:,} × " * bool(line.ops[first.born].layer and most > 1)
    name = f"{first.kind} of {copies}{first.place}" if first.place else first.kind
    return f"{name} in {first.dtype}" if dtypes == {first.dtype} and first.dtype else name
