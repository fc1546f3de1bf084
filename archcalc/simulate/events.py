"""What happens to memory in a step: blocks that are allocated and freed, one by one or many times in a row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from archcalc.core.ir import Module
from archcalc.simulate.nodes import Loop


class Stream(IntEnum):
    """The CUDA stream that a block is allocated on. The allocator lends no memory from one to another."""

    COMPUTE = 0
    ALL_GATHER = 1
    REDUCE_SCATTER = 2

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", "-")


@dataclass(eq=False, slots=True)
class Block:
    """One allocation: the storage of a tensor, or a buffer. `what` is the tensor, where there is one."""

    part: str
    bytes: int
    stream: Stream = Stream.COMPUTE
    what: object = None


class Change(NamedTuple):
    """A block allocated, or (fewer bytes) freed."""

    part: str
    bytes: int
    phase: str
    module: Module
    block: Block
    run: int = 0  # which run of a repeated block it belongs to, by the number of its first op
    number: int = -1  # of the op that runs; -1: none


@dataclass(frozen=True)
class Repeated:
    """Events that happen `times` times in a row: those of a loop of the schedule, its last run first if reversed."""

    changes: list[Event]
    times: int
    loop: Loop | None = None
    is_reversed: bool = False


Event = Change | Repeated
