"""Where a model's parameters are used: in blocks, in front of them, behind them, or at both ends."""

from __future__ import annotations

from archcalc.core.ir import Module, Op, Param, Region, walk

Copies = list[tuple[Param, int]]  # parameters, and how many copies of each


class ModelEnds:
    """The parameters outside of blocks; what ops in front of all blocks read (`ahead`), and what ops outside of blocks
    and behind the first of them read (`behind`). Without blocks there are no ends."""

    def __init__(self, root: Module) -> None:
        blocks = [module for module, _ in walk(root) if module.region == Region.BLOCK]
        inside = {param for block in blocks for module, _ in walk(block) for param in module.params.values()}
        every = [(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]
        self.outside: Copies = [(param, copies) for param, copies in every if param not in inside]
        self.ahead, self.behind = set[Param](), set[Param]()
        reading = self.ahead
        for op in _outer_ops(root) if blocks else ():
            if op is None:
                reading = self.behind
            else:
                reading.update(tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param))
        self.are_apart = bool(blocks) and not self.ahead & self.behind  # no parameter is used at both ends


def _outer_ops(module: Module) -> list[Op | None]:
    """The ops outside of blocks in their order, with None for each block."""
    found: list[Op | None] = []
    for item in module.body:
        if isinstance(item, Op):
            found.append(item)
        elif item.region == Region.BLOCK:
            found.append(None)
        else:
            found.extend(_outer_ops(item))
    return found
