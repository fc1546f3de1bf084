"""Where a parameter stands: in which layers of its stack, and what it does there.

Formats that keep some layers wider, and lists of modules that are left as they are, speak of layers by their numbers
and of matrices by what they do. `Place` says both of a parameter of the tree, whatever its module is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from archcalc.core.ir import Module, ModuleGroup, Param, Region, walk

ATTENTION = ("q", "k", "v", "q_down", "q_up", "kv_down", "kv_up")
FFN = {"gate": "gate", "up": "up", "in": "up", "down": "down", "out": "down"}


@dataclass(frozen=True)
class Shape:
    """A matrix as PyTorch keeps it, or `stack` of them: rows are outputs, columns are inputs."""

    stack: int
    rows: int
    columns: int

    @property
    def elements(self) -> int:
        return self.stack * self.rows * self.columns


@dataclass(frozen=True, eq=False)
class Place:
    """A parameter with its copies, which are the layers that hold it."""

    param: Param
    copies: int

    @cached_property
    def layers(self) -> Sequence[int]:
        """The number of each layer, from 0; nothing for what stands outside of a stack."""
        block = _block(self.param.owner)
        return _numbers(block) if block else ()

    @cached_property
    def depth(self) -> int:
        """How many layers the stack has."""
        block = _block(self.param.owner)
        return _blocks(_stack(block)) if block else 0

    @cached_property
    def role(self) -> str:
        """`attention.v`, `ffn.down`, `router`, `head`, `table.token`; `other` for a matrix that no rule speaks of."""
        return _role(self.param)

    @property
    def is_expert(self) -> bool:
        return len(self.param.axes) > 2 and self.param.dims[0].name == "experts"

    @property
    def is_shared(self) -> bool:
        """Of an expert that every token visits."""
        above = self.param.owner.parent
        return bool(above and above.name == "shared")

    @property
    def is_linear(self) -> bool:
        """The matrix of a linear layer: no table, no convolution, no learned state."""
        plain = self.param.name == "weight" and not self.param.table
        flat = len(self.param.axes) == 2 and not any(dim.name in ("conv", "patch") for dim in self.param.dims)
        return plain and (flat or self.is_expert)


@dataclass(frozen=True)
class Facts:
    """What rules ask of a whole model."""

    experts: int = 0
    grouping: int = 1  # query heads for each key-value head
    tied: bool = False  # the head multiplies with the token table
    fused_qkv: bool = False  # a GGUF file keeps queries, keys and values in one matrix


def facts(root: Module, *, fused_qkv: bool = False) -> Facts:
    sizes: dict[str, int] = {}
    for module, _ in walk(root):
        for param in module.params.values():
            for dim in param.dims:
                sizes[dim.name] = max(sizes.get(dim.name, 0), int(dim.size))
    heads = sizes.get("heads", 1)
    tied = not any(_is_head(param) for module, _ in walk(root) for param in module.params.values())
    return Facts(sizes.get("experts", 0), heads // sizes.get("kv_heads", heads), tied, fused_qkv)


def _is_head(param: Param) -> bool:
    """The matrix that gives the scores, not what may stand before it."""
    outermost = not (param.owner.parent or param.owner).parent
    scores = outermost or any(dim.name == "vocab" for dim in param.dims)
    return param.owner.group == ModuleGroup.HEAD and param.name == "weight" and scores


def _role(param: Param) -> str:
    name = param.owner.name
    if _is_head(param):
        return "head"
    if param.table or len(param.axes) < 2 or param.name != "weight":
        return f"table.{param.table}" if param.table else "other"
    if name == "router":
        return "router"
    if param.owner.parent and param.owner.parent.name == "indexer":
        return "other"
    if any(dim.name == "ffn" for dim in param.dims) and name in FFN:
        return f"ffn.{FFN[name]}"
    into = {dim.name for dim in param.axes[-1]}
    if name in ATTENTION or (name == "out" and into & {"heads", "head_dim"}):
        return f"attention.{name}"
    return "other"


def _block(module: Module) -> Module | None:
    above: Module | None = module
    while above and above.region != Region.BLOCK:
        above = above.parent
    return above


def _stack(block: Module) -> Module:
    """What stands directly in the model and holds the block."""
    above = block
    while above.parent and above.parent.parent:
        above = above.parent
    return above


def _blocks(module: Module) -> int:
    """How many layers a module holds, in all its copies."""
    inside = 1 if module.region == Region.BLOCK else sum(_blocks(child) for child in module.children)
    return int(module.repeat) * inside


def _numbers(block: Module) -> Sequence[int]:
    """Which layers a block is: those before it in each period, and in each copy of the period."""
    numbers: Sequence[int] = range(int(block.repeat))
    node = block
    while node.parent and node.parent.parent:
        above = node.parent
        before = sum(_blocks(child) for child in _until(above, node))
        numbers = [before + number for number in numbers] if before else numbers
        if above.repeat > 1 and above.parent and above.parent.parent:
            period = _blocks(above) // int(above.repeat)
            numbers = [turn * period + number for turn in range(int(above.repeat)) for number in numbers]
        node = above
    return _further(node) if node.name == "mtp" else numbers


def _further(stack: Module) -> Sequence[int]:
    """Blocks that predict further ahead are numbered behind the last one, as checkpoints do."""
    assert stack.parent
    before = _blocks(stack.parent["decoder"])
    return range(before, before + int(stack.repeat))


def _until(module: Module, child: Module) -> tuple[Module, ...]:
    return module.children[: module.children.index(child)]
