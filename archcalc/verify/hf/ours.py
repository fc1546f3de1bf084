"""archcalc's side of the comparison, block by block: tensors, layer outputs, FLOPs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from archcalc.analyze.flops.cost import Work, work
from archcalc.core import tree
from archcalc.core.execution import never
from archcalc.core.ir import Module, Op, Param, Region
from archcalc.verify import names

Shape = tuple[int, ...]
EXPERTS = "experts"  # computed for all of them together, in another way in each implementation


@dataclass(frozen=True)
class Layer:
    """What reads a weight: the weight's shape, and what comes out."""

    name: str
    weight: Shape
    output: Shape
    is_lookup: bool = False

    def size(self, batch: int) -> int:
        """How many numbers come out; of a table one sequence's, since positions may be looked up for all at once."""
        shared = self.is_lookup and len(self.output) == 3 and self.output[0] in (1, batch)
        return math.prod(self.output[1:] if shared else self.output)


@dataclass(eq=False)
class Block:
    """One block, or with the name "" everything outside of blocks."""

    name: str
    layers: list[Layer] = field(default_factory=list)
    output: Shape = ()
    flops: int = 0
    tensors: dict[str, Shape] = field(default_factory=dict)


def as_one(blocks: list[Block]) -> list[Block]:
    """All blocks and what stands outside of them together."""
    whole = Block("", output=blocks[-1].output, flops=sum(block.flops for block in blocks))
    for block in blocks:
        whole.tensors |= block.tensors
        whole.layers += block.layers
    return [whole]


def blocks_of(root: Module) -> list[Block]:
    """Blocks in order; the last entry is everything outside of blocks, with the model's output."""
    done, given_out = work(root, trainable=never), names.shapes(root)
    flops = _flops(done)
    blocks, outside = list[Block](), Block("")
    for name, module in names.expanded(root, ""):
        inside = bool(blocks) and name.startswith(f"{blocks[-1].name}.")
        if module.region == Region.BLOCK and not inside:
            blocks.append(Block(name, output=given_out.get(name, ()), flops=flops.get(module, 0)))
            inside = True
        block = blocks[-1] if inside else outside
        block.tensors |= {names.under(name, key): param.shape for key, param in module.params.items() if param.elements}
        block.layers += [layer] if (layer := _layer(name, module)) else []
    made = tree.given_out(root)
    outside.output = made.shape if made else ()
    outside.flops = int(done.forward) - sum(block.flops for block in blocks)
    return [*blocks, outside]


def _flops(done: Work) -> dict[Module, int]:
    """Of one copy of each block."""
    found: dict[Module, int] = {}
    for piece in done.pieces:
        blocks = [module for module in _upwards(piece.module) if module.region == Region.BLOCK]
        if blocks and piece.matrix:  # the outermost
            found[blocks[-1]] = found.get(blocks[-1], 0) + int(piece.forward)
    return {block: total // math.prod(int(one.repeat) for one in _upwards(block)) for block, total in found.items()}


def _upwards(module: Module | None) -> Iterator[Module]:
    """A module, and those around it."""
    while module:
        yield module
        module = module.parent


def _layer(name: str, module: Module) -> Layer | None:
    """A module that reads a weight: a linear layer, a norm, a table, a convolution; but not again what a child has."""
    inside = {param for child in module.children for param in child.params.values()}
    read = next(((op, weight) for op in module.ops if (weight := _weight(op)) and weight not in inside), None)
    if read is None or f".{EXPERTS}" in f".{name}":
        return None
    op, weight = read
    if not weight.elements:
        return None
    is_lookup = op.traits.reads_rows or (op.traits.joins_product and weight.weight_role.is_table)
    return Layer(name, weight.shape, op.output.shape, is_lookup)


def _weight(op: Op) -> Param | None:
    """The last one: what is multiplied with it may be a parameter too, such as a table of distances."""
    stored = (tensor.of or tensor for tensor in reversed(op.inputs))  # a matrix may be seen as one for each group
    return next((tensor for tensor in stored if isinstance(tensor, Param) and tensor.name == "weight"), None)
