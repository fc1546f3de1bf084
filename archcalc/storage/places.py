"""The place of a parameter: which layers of a stack have it.

Mixed formats and lists of modules excluded from quantisation address layers by number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from archcalc.core.ir import Module, Param, Region, walk
from archcalc.core.roles import Role
from archcalc.core.tree import enclosing
from archcalc.storage.layer_numbers import LayerNumbers


@dataclass(frozen=True)
class Shape:
    """A matrix as PyTorch keeps it, or `stack` of them: rows are outputs, columns are inputs."""

    stack: int
    rows: int
    columns: int


@dataclass(frozen=True, eq=False)
class Place:
    """A parameter with its copies, which are the layers that hold it."""

    param: Param
    copies: int
    only: LayerNumbers | None = None  # some of the layers

    @cached_property
    def layers(self) -> LayerNumbers:
        """The number of each layer; empty for a parameter outside of a stack."""
        block = enclosing(self.param.owner, Region.BLOCK)
        if self.only is not None or not block:
            return self.only or LayerNumbers()
        return layer_numbers(block)

    def between(self, first: int, end: int) -> Place:
        """Its copies in the layers from `first` on, up to `end`."""
        here = self.layers.between(first, end)
        return Place(self.param, self.copies * here.number // self.layers.number, here)

    @cached_property
    def depth(self) -> int:
        """How many layers the stack has."""
        block = enclosing(self.param.owner, Region.BLOCK)
        while block and block.parent and block.parent.parent:  # up to the top-level module that contains it
            block = block.parent
        return _blocks(block) if block else 0

    @cached_property
    def part(self) -> str:
        """The module of the whole model that it is in."""
        owner = self.param.owner
        while owner.parent and owner.parent.parent:
            owner = owner.parent
        return owner.name

    @property
    def role(self) -> Role:
        """What the parameter does there."""
        return self.param.weight_role


@dataclass(frozen=True)
class Facts:
    """Properties of the whole model that rules depend on."""

    experts: int = 0
    grouping: int = 1  # query heads for each key-value head
    tied: bool = False  # the head multiplies with the token table
    fused_qkv: bool = False  # a GGUF file keeps queries, keys and values in one matrix


def facts(root: Module, *, fused_qkv: bool = False) -> Facts:
    params = [param for module, _ in walk(root) for param in module.params.values()]
    experts = max((int(param.dims[0].size) for param in params if param.weight_role.is_expert), default=0)
    heads = dict.fromkeys((Role.ATTENTION_Q, Role.ATTENTION_K), 0)  # the dim that tensor parallelism divides
    for param in params:
        if param.weight_role in heads:
            sizes = (int(dim.size) for dim in param.axes[0] if dim.split)
            heads[param.weight_role] = max((heads[param.weight_role], *sizes))
    queries, keys = heads.values()
    tied = not any(param.weight_role.gives_scores for param in params)
    return Facts(experts, queries // (keys or queries or 1) or 1, tied, fused_qkv)


def _blocks(module: Module) -> int:
    """How many layers a module holds, in all its copies."""
    inside = 1 if module.region == Region.BLOCK else sum(_blocks(child) for child in module.children)
    return int(module.repeat) * inside


def layer_numbers(block: Module) -> LayerNumbers:
    """Which layers a block is: those before it in each period, and in each copy of the period."""
    numbers = LayerNumbers.up_to(int(block.repeat))
    node = block
    while node.parent and node.parent.parent:
        above = node.parent
        before = above.children[: above.children.index(node)]
        numbers = numbers.shifted(sum(map(_blocks, before)))
        if above.repeat > 1 and above.parent and above.parent.parent:
            period = _blocks(above) // int(above.repeat)
            numbers = numbers.repeated(int(above.repeat), period)
        node = above
    roles = {param.weight_role for child in node.children for param in child.params.values()}
    if Role.FURTHER_TOKENS not in roles:
        return numbers
    assert node.parent  # blocks that predict further ahead are numbered behind the last one, as checkpoints do
    last = max(_blocks(earlier) for earlier in node.parent.children if earlier is not node)
    return LayerNumbers.up_to(int(node.repeat)).shifted(last)
