"""The three matrices of self-attention, with biases and adapters, as one that makes queries, keys and values.

Source: litgpt, CausalSelfAttention.forward and LoRAQKVLinear.forward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from archcalc.core.ir import Axes, Dim, Module, Op, Param, Region, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.core.splits import Piece, Split
from archcalc.core.tree import ops_in
from archcalc.run.code.dropouts import dropout

MADE_TOGETHER = (Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V)


@dataclass(frozen=True)
class Projection:
    """One of the three: what it reads and makes, and its parameters."""

    module: Module
    product: Op
    output: Tensor
    biases: tuple[Param, ...]
    adapter: tuple[Param, ...]  # A and B, or none

    @property
    def weights(self) -> tuple[Tensor, ...]:
        return (*self.product.inputs[1:], *self.biases)

    @property
    def piece(self) -> Piece:
        head, width = self.output.axes[-1]
        return Piece(int(head.size), int(width.size))


def attentions(root: Module) -> Iterator[tuple[Module, list[Projection]]]:
    """Every self-attention whose queries, keys and values are made of one tensor."""
    for module, _ in walk(root):
        if any(child.region == Region.CORE for child in module.children):
            found = [one for role in MADE_TOGETHER for one in _projections(module, role)]
            if len(found) == len(MADE_TOGETHER) and len({one.product.inputs[0] for one in found}) == 1:
                yield module, found


def _projections(attention: Module, role: Role) -> Iterator[Projection]:
    for child in attention.children:
        ops = list(ops_in(child))
        products = [op for op in ops if any(getattr(one, "weight_role", None) is role for one in op.inputs)]
        params = dict.fromkeys(one for op in ops for one in op.inputs if isinstance(one, Param))
        if products:
            biases = tuple(one for one in params if one.weight_role is Role.BIAS)
            adapter = tuple(one for one in params if one.weight_role is Role.ADAPTER)
            yield Projection(child, products[0], ops[-1].output, biases, adapter)


def joined(three: list[Projection]) -> tuple[list[Op], Tensor]:
    """One product for all three, and what adapters add to it; the ops, and what they make."""
    x, over = three[0].product.inputs[0], three[0].product.over
    rows = x.axes[:-1]
    made = Tensor((*rows, (_width("qkv", three),)))
    product = Op("affine", (x, *(weight for one in three for weight in one.weights)), made, over)
    adapted = [one for one in three if one.adapter]
    if not adapted:
        return [product], made
    lines, change = _change(x, adapted, over)
    if len(adapted) < len(three):
        zeros, placed = Tensor(made.axes), Tensor(made.axes)
        lines += [Op("zeros", (), zeros), Op("placed", (zeros, change), placed)]
        change = placed
    scaled, whole = Tensor(made.axes), Tensor(made.axes)
    return [product, *lines, Op("scale", (change,), scaled), Op("add", (made, scaled), whole)], whole


def _change(x: Tensor, adapted: list[Projection], over: tuple[Dim, ...]) -> tuple[list[Op], Tensor]:
    """Dropout, one product with all A, and one with each B; where heads differ in number, results are joined."""
    dropped = Tensor(x.axes, x.role)
    ranks = [one.adapter[0].dims[0] for one in adapted]
    hidden = Tensor((*x.axes[:-1], (Dim.of("lora_ranks", sum(int(rank.size) for rank in ranks)),)))
    lines = [dropout(x, dropped), Op("affine", (dropped, *(one.adapter[0] for one in adapted)), hidden, over)]
    change = Tensor((*x.axes[:-1], (_width("adapted", adapted),)))
    if len({one.piece for one in adapted}) == 1:  # a convolution in as many groups
        return [*lines, Op("affine", (hidden, *(one.adapter[1] for one in adapted)), change, (ranks[0],))], change
    parts = [Tensor(one.output.axes) for one in adapted]
    lines += [
        Op("affine", (hidden, one.adapter[1]), part, (rank,))
        for one, part, rank in zip(adapted, parts, ranks, strict=True)
    ]
    return [*lines, Op("concat", tuple(parts), change)], change


def _width(name: str, projections: list[Projection]) -> Dim:
    """All of them side by side, each divided over GPUs by heads."""
    pieces = tuple(one.piece for one in projections)
    return Dim.of(name, sum(piece.size for piece in pieces), split=Split(pieces))


def replace_in(attention: Module, three: list[Projection], lines: list[Op]) -> None:
    """Put these lines where the first of the three stood."""
    place = min(attention.body.index(one.module) for one in three)
    for one in three:
        attention.body.remove(one.module)
        for module, _ in walk(one.module):
            module.body.clear()
    attention.body[place:place] = lines


def by_head(tensor: Tensor) -> Axes:
    """(batch, heads, seq, head_dim) of what a matrix made for all heads."""
    batch, seq = tensor.dims[:2]
    head, width = tensor.axes[-1]
    return axes(batch, head, seq, width)
