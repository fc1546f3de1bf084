"""Where a model's parameters are used: in blocks, in front of them, behind them, or at both ends."""

from __future__ import annotations

from functools import cached_property

from archcalc.core.ir import Module, Op, Param, Region, walk

Copies = list[tuple[Param, int]]  # parameters, and how many copies of each


class ModelEnds:
    """The parameters outside of blocks, and whether ops in front of all blocks read them, or ops behind."""

    def __init__(self, root: Module) -> None:
        self.root = root
        inside = {param for block in self._blocks for module, _ in walk(block) for param in module.params.values()}
        every = [(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]
        self.outside: Copies = [(param, copies) for param, copies in every if param not in inside]

    @cached_property
    def first(self) -> Copies:
        return [(param, copies) for param, copies in self.outside if param in self._read_ahead]

    @cached_property
    def last(self) -> Copies:
        return [(param, copies) for param, copies in self.outside if param not in self._read_ahead]

    @property
    def are_apart(self) -> bool:
        """Whether there are blocks, and no parameter is used both in front of them and behind."""
        return bool(self._blocks) and not self._read_ahead & self._read_behind

    def is_read_ahead(self, param: Param) -> bool:
        """Whether an op in front of all blocks reads it."""
        return param in self._read_ahead

    def is_read_behind(self, param: Param) -> bool:
        """Whether an op outside of blocks and behind the first of them reads it."""
        return param in self._read_behind

    @cached_property
    def _blocks(self) -> list[Module]:
        return [module for module, _ in walk(self.root) if module.region == Region.BLOCK]

    @cached_property
    def _outer_ops(self) -> list[Op | None]:
        """The ops outside of blocks in their order, with None for each block."""
        return list(_outer(self.root))

    @cached_property
    def _read_ahead(self) -> set[Param]:
        return _read(self._outer_ops[: self._outer_ops.index(None)]) if self._blocks else set()

    @cached_property
    def _read_behind(self) -> set[Param]:
        return _read(self._outer_ops[self._outer_ops.index(None) :]) if self._blocks else set()


def _outer(module: Module) -> list[Op | None]:
    found: list[Op | None] = []
    for item in module.body:
        if isinstance(item, Op):
            found.append(item)
        elif item.region == Region.BLOCK:
            found.append(None)
        else:
            found.extend(_outer(item))
    return found


def _read(ops: list[Op | None]) -> set[Param]:
    return {tensor.storage for op in ops if op for tensor in op.inputs if isinstance(tensor.storage, Param)}
