"""The tree of modules as nodes, every module opened down to its ops.

An op is a node of its own unless it only moves numbers (a view, a copy) and has no name; adding a bias belongs to the
op before it. The loss is no part of the picture: what it reads is the model's output.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from archcalc.analyze.diagram import kinds
from archcalc.analyze.diagram.graph import Form, Node, PartKind
from archcalc.analyze.diagram.kinds import weights
from archcalc.core.count import product
from archcalc.core.ir import Dim, Module, Op, Param, Region, Tensor, walk
from archcalc.core.op_pictures import PICTURES
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.core.windows import Ends

BEFORE = "⟨t−1⟩"
_TITLES = {Region.CORE: "attention core", Region.KERNEL: "one fused kernel", Region.LOSS: "loss"}
MOST_WIDTHS = 4  # a longer row of layers is told by its ends


@dataclass
class Sketch:
    """The nodes of a model, and where each op and each parameter is."""

    root: Node
    home: dict[Op, Node] = field(default_factory=dict)  # the node of each op that is seen
    nodes: dict[Module, Node] = field(default_factory=dict)
    module: dict[Op, Module] = field(default_factory=dict)
    made_by: dict[Tensor, Op] = field(default_factory=dict)
    order: dict[Op, int] = field(default_factory=dict)
    states: list[tuple[Module, Tensor, Tensor, Node]] = field(default_factory=list)  # where, read, handed on, node
    outputs: list[Tensor] = field(default_factory=list)  # what losses read; what they compare it with comes second
    stacked: dict[Module, int] = field(default_factory=dict)  # experts: equal copies, kept as one stack of weights
    number: count[int] = field(default_factory=count)  # of nodes that are no modules

    def fill(self, around: Node, module: Module) -> None:
        """Put nodes for the contents of a module into its node."""
        self.nodes[module] = around
        self._states(around, module)
        for item in module.body:
            if isinstance(item, Op):
                self._op(around, module, item)
            elif item.region == Region.LOSS:
                self.outputs.extend(tensor for op in ops_in(item) for tensor in op.inputs[:1])
            elif item.is_section and not item.region:
                self.fill(around, item)
            else:
                self._module(around, item)
        for child in module.children:
            if child not in module.body and any(node.params for node, _ in walk(child)):
                self._module(around, child)

    def _module(self, around: Node, module: Module) -> None:
        first = next((self.order[op] for op in ops_in(module)), len(self.order))
        title = _TITLES[module.region] if module.is_section and module.region in _TITLES else module.words.full_name
        node = self._node(around, module.name, title, Form.FRAME, first)
        node.repeat, node.calls, node.parameters = int(module.repeat), int(module.calls), _parameters(module)
        node.is_step, node.is_side_by_side = module.region == Region.STEP, module.is_side_by_side
        node.makes = tuple(op.kind for op in ops_in(module))
        # Experts are copies of one another, though their weights are one tensor, if all of these are stacked.
        params = [param for inner, _ in walk(module) for param in inner.params.values()]
        experts = {dim for param in params if param.weight_role.is_expert for dim in param.dims if dim.copies}
        common = [dim for dim in experts if all(dim in param.dims for param in params)]
        copies = int(common[0].size) if common else 1
        outer = self.stacked.get(module.parent, 1) if module.parent else 1
        self.stacked[module] = max(outer, copies)
        if outer == 1:
            node.repeat *= copies
        node.parameters //= self.stacked[module]
        self.fill(node, module)
        node.kind = kinds.of_module(module, [child.kind for child in node.children])
        node.detail = detail_of(module, node.kind)

    def _node(self, around: Node, name: str, title: str, form: Form, order: int) -> Node:
        key = f"{around.key}.{name}".lstrip(".")
        node = Node(key, title, form, PartKind.OTHER, around.level + 1, order, around)
        around.children.append(node)
        return node

    def _op(self, around: Node, module: Module, op: Op) -> None:
        self.module[op] = module
        if op.traits.enters:  # inputs stand outside of every module, wherever they are read
            name, order = op.name or "input", self.order[op]
            title = op.title or name.replace("_", " ")
            self.home[op] = self._node(self.root, f"#{next(self.number)} {name}", title, Form.INPUT, order)
        elif not PICTURES[op.kind].unseen or bool(op.name and op.inputs) or _crops(op):
            self.home[op] = self._bias_of(module, op) or self._step(around, module, op)

    def _bias_of(self, module: Module, op: Op) -> Node | None:
        """The node that a bias is added to."""
        before = [tensor for tensor in op.inputs if tensor.role != "param"]
        if not op.traits.joins_product or len(before) != 1 or len(op.inputs) < 2:
            return None
        maker = self.made_by.get(before[0].within(self.made_by))
        if maker and self.module.get(maker) is module:
            return self.home.get(maker)
        return None

    def _step(self, around: Node, module: Module, op: Op) -> Node:
        sign = PICTURES[op.kind].sign
        title = sign or op.title or op.name.replace("_", " ") or words(op)
        title = "crop" if _crops(op) else title
        form = Form.SIGN if sign else Form.STEP
        node = self._node(around, f"#{next(self.number)} {op.kind}", title, form, self.order[op])
        node.kind, node.detail, node.makes = kinds.of_op(op, module), widths([op]), (op.kind,)
        return node

    def _states(self, around: Node, module: Module) -> None:
        """What one step of a recurrent net hands to the next; layers that share weights are a stack like any other."""
        recurs = module.calls > 1 and module.region != Region.BLOCK
        for into, out in module.carries if recurs else ():
            maker = self.made_by.get(out.within(self.made_by))
            name = maker.name if maker and maker.name else "state"
            node = self._node(around, f"#{next(self.number)} {name}", f"{name}{BEFORE}", Form.STATE, around.order)
            node.kind = PartKind.RECURRENT
            self.states.append((module, into, out, node))


def sketch(model: Module) -> Sketch:
    """Every module opened."""
    made = Sketch(Node("", model.words.title, Form.FRAME, PartKind.STACK, 0, 0))
    for position, op in enumerate(ops_in(model)):
        made.order[op] = position
        made.made_by.update(dict.fromkeys((op.output, *op.beside.values()), op))
    made.fill(made.root, model)
    made.root.parameters = _parameters(model)
    return made


def _parameters(module: Module) -> int:
    """In one copy of it."""
    held = [(copies, param) for node, copies in walk(module) for param in node.params.values()]
    return sum(int(copies) * int(param.elements) for copies, param in held) // int(module.repeat)


def _crops(op: Op) -> bool:
    """Whether it cuts a map to what is in its middle."""
    return bool(op.windows) and PICTURES[op.kind].unseen and all(isinstance(one, Ends) for one in op.windows)


def words(op: Op) -> str:
    """What an op is called."""
    if op.traits.contraction and weights(op):
        return "convolution" if _taps(weights(op)[0]) else "linear"
    return PICTURES[op.kind].word or op.kind.replace("_", " ")


def detail_of(module: Module, kind: PartKind) -> str:
    """One line about a closed module, such as `4 heads × 192`, `1,024 → 512 → 1,024, ReLU`, `2 of 8 experts`; nothing
    about one that holds several kinds of part."""
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
    read = [op.note for op in ops if op.name and PICTURES[op.kind].unseen and kind == PartKind.HEAD]
    return ", ".join(filter(None, (*pools[:1], *read, widths(ops), moved, *behind, *activations)))


def _attention(module: Module, ops: Sequence[Op]) -> str:
    """Heads and their width, from the product of queries and keys."""
    cores = [node for node, _ in walk(module) if node.region == Region.CORE]
    products = [op for core in cores for op in ops_in(core) if op.traits.contraction or op.traits.attention_kernel]
    if not products or module in cores:
        return ""
    heads = next((dim for dim in products[0].output.dims if dim.copies), None)
    if not heads or not products[0].over:
        return ""
    shared = [dim for op in ops_in(module) for dim in _heads_of_keys(op) if dim.size < heads.size][:1]
    kept = [f"{dim.size:,} KV head{'s' * (dim.size > 1)}" for dim in shared]
    return ", ".join([f"{heads.size:,} heads × {_size(products[0].over)}", *kept, *_latent(ops)])


def _heads_of_keys(op: Op) -> list[Dim]:
    """The heads that a projection of keys makes."""
    own = [weight for weight in weights(op) if weight.weight_role == Role.ATTENTION_K]
    return [dim for weight in own for dim in weight.dims if dim.copies]


def _latent(ops: Sequence[Op]) -> list[str]:
    """What a cache keeps: the vector that keys and values are made of, and the rotary part beside it."""
    widths = {weight.weight_role: weight.dims for op in ops for weight in weights(op)}
    down, up = widths.get(Role.ATTENTION_KV_DOWN), widths.get(Role.ATTENTION_KV_UP)
    if not (down and up):
        return []
    latent, kept = up[-1].size, down[0].size
    return [f"latent KV of {latent:,}" + (f" + {kept - latent:,}" if kept > latent else "")]


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
