"""One line about a part: `4 heads × 192`, `1,024 → 512 → 1,024, ReLU`, `2 of 8 experts`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archcalc.analyze.diagram.graph import PartKind
from archcalc.analyze.diagram.kinds import weights
from archcalc.core.count import product
from archcalc.core.ir import Dim, Module, Op, Param, Region, walk
from archcalc.core.op_pictures import PICTURES
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.core.windows import Ends

MOST_WIDTHS = 4  # a longer row of layers is told by its ends


def words(op: Op) -> str:
    """What an op is called."""
    if op.traits.contraction and weights(op):
        return "convolution" if _taps(weights(op)[0]) else "linear"
    return PICTURES[op.kind].word or op.kind.replace("_", " ")


def of_module(module: Module, kind: PartKind) -> str:
    """What is to be known of a closed module; nothing of one that holds several kinds of part."""
    ops = list(ops_in(module))
    told = {PartKind.ATTENTION: _attention, PartKind.EXPERTS: _experts}
    if kind == PartKind.STACK:
        return ""
    if kind in told and (special := told[kind](module, ops)):
        return special
    pools, norms, activations = (
        list(dict.fromkeys(words(op) for op in ops if PICTURES[op.kind].part == part))
        for part in ("pooling", "norm", "activation")
    )
    if kind == PartKind.NORM and norms:
        return norms[0]
    moved = windows(ops, with_size=kind == PartKind.POOLING)
    behind = norms if kind == PartKind.CONVOLUTION and len(norms) == 1 else []
    return ", ".join(filter(None, (*pools[:1], widths(ops), moved, *behind, *activations)))


def _attention(module: Module, ops: Sequence[Op]) -> str:
    """Heads and their width, from the product of queries and keys."""
    cores = [node for node, _ in walk(module) if node.region == Region.CORE]
    products = [op for core in cores for op in ops_in(core) if op.traits.contraction or op.traits.attention_kernel]
    if not products or module in cores:
        return ""
    heads = next((dim for dim in products[0].output.dims if dim.copies), None)
    if not heads or not products[0].over:
        return ""
    return f"{heads.size:,} heads × {_size(products[0].over)}"


def _experts(module: Module, ops: Sequence[Op]) -> str:
    """How many experts a token visits, from the choice that the router makes."""
    for op in ops:
        if any(role == "index" for _, role, _ in op.traits.beside):
            chosen = [dim for dim in op.output.dims if dim not in op.inputs[0].dims]
            among = [dim for dim in op.inputs[0].dims if dim not in op.output.dims]
            return f"{_size(chosen)} of {_size(among)} {' '.join(dim.name for dim in among)}"
    return ""


def widths(ops: Sequence[Op]) -> str:
    """`1,024 → 512 → 1,024`, along the products with weights that read one another; a convolution's `7 × 7, 3 → 64`."""
    products = [op for op in ops if op.traits.contraction and op.over and weights(op)]
    row: list[str] = []
    for op in products:
        weight, taps = weights(op)[0], _taps(weights(op)[0])
        into = _size([*(dim for dim in op.over if dim not in taps), *_groups(op)])  # channels of all groups
        row = row or [into]
        if row[-1] == into:
            own = (dim for dim in weight.dims if dim not in (*op.over, *taps))
            row.append(_size(dim for dim in own if dim in op.output.dims))
    if len(row) > MOST_WIDTHS:
        row = [row[0], "…", row[-1]]
    parts = [" → ".join(row)]
    kernels = {_window([_size([dim]) for dim in _taps(weights(op)[0])]) for op in products}
    if len(kernels) == 1:
        parts.insert(0, kernel := kernels.pop())
        if kernel and len(products) == 1 and (groups := _groups(products[0])):
            parts.append(f"{_size(groups)} groups")
    return ", ".join(filter(None, parts))


def _groups(op: Op) -> list[Dim]:
    """The dims along which each part of the input meets weights of its own."""
    shared = [dim for dim in weights(op)[0].dims if dim not in op.over and dim in op.inputs[0].dims]
    return [dim for dim in shared if dim.size > 1]


def _taps(weight: Param) -> list[Dim]:
    """The dims of a filter: of a convolution's weights all but the channels, which come first."""
    if weight.weight_role != Role.CONVOLUTION:
        return []
    return [dim for axis in weight.axes[2:] for dim in axis]


def _size(dims: Iterable[Dim]) -> str:
    return f"{int(product(dim.size for dim in dims)):,}"


def windows(ops: Iterable[Op], *, with_size: bool) -> str:
    """Of the only op that moves over a map; nothing where several do. `with_size`: also how large its window is."""
    moving = [op.windows for op in ops if op.windows and not isinstance(op.windows[0], Ends)]
    if len(moving) != 1:
        return ""
    sides = moving[0]
    if all(side.places == 1 for side in sides) and with_size:
        return "over the whole map"
    parts, steps = [], {side.step for side in sides}
    if with_size:
        parts.append(_window([str(side.reach) for side in sides]))
    if all(step < 1 for step in steps):
        parts.append(f"{_same([str(1 / step) for step in steps])} × larger")
    elif steps != {1}:
        parts.append(f"stride {_same([str(side.step) for side in sides])}")
    return ", ".join(parts)


def _window(sizes: list[str]) -> str:
    """`3 × 3`; along one side `kernel 3`."""
    return f"kernel {sizes[0]}" if len(sizes) == 1 else " × ".join(sizes)


def _same(sizes: list[str]) -> str:
    """One number where all are equal."""
    return sizes[0] if len(set(sizes)) == 1 else " × ".join(sizes)
