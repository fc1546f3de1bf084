"""What PyTorch's allocator gives a tensor beyond its bytes, and counts as allocated.

A tensor of 10 MiB or more gets a segment of whole 2 MiB, of which a rest is split off only if it is more than 1 MiB
(c10/cuda/CUDACachingAllocator.cpp: kMinLargeAlloc, kRoundLarge, kSmallSize, should_split). vLLM loads queries, keys and
values as one tensor, and gate and up as one.
"""

from __future__ import annotations

from collections import defaultdict

from archcalc.analyze.memory.answer import Memory
from archcalc.core.roles import Role

MIB = 2**20
TOGETHER = dict.fromkeys((Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V), "qkv")
TOGETHER |= dict.fromkeys((Role.FFN_GATE, Role.FFN_UP), "gate_up")


def unsplit(memory: Memory) -> int:
    """Bytes that no tensor uses, of all weights on one GPU."""
    tensors: dict[object, int] = defaultdict(int)
    copies: dict[object, int] = {}
    for held in memory.parameters.held:
        together = TOGETHER.get(held.param.weight_role.plain)
        tensor = (held.param.owner.parent, together) if together else held.param
        tensors[tensor] += held.weights // held.copies
        copies[tensor] = held.copies
    return sum(copies[tensor] * _rest(size) for tensor, size in tensors.items())


def _rest(size: int) -> int:
    rest = -size % (2 * MIB)
    return rest if size >= 10 * MIB and rest <= MIB else 0
