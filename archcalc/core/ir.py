"""The representation: tensors with named dims, the ops that ordinary forward code records, and the tree of modules.

A layer is a function of a Module and its input Tensors. It declares parameters, records ops and returns a Tensor; every
number archcalc prints is a fold over the tree this leaves behind. Nothing is computed and nothing is allocated.

Layers import all of it from here; dims and tensors themselves are written in `archcalc.core.tensors`.
Names are identity: two dims of one name in a tensor, or one name with two sizes or two declarations in an op, are a
mistake and raise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from textwrap import indent
from typing import TYPE_CHECKING

from archcalc.core.count import ONE, Count, product
from archcalc.core.module_words import Part, Words
from archcalc.core.op_kind import Kind
from archcalc.core.ops import KINDS
from archcalc.core.regions import ModuleGroup, Region
from archcalc.core.roles import Role
from archcalc.core.style import PLAIN, Style
from archcalc.core.tensors import Axes, Axis, Dim, Tensor, axes

if TYPE_CHECKING:
    from archcalc.core.windows import Along

__all__ = [
    "Axes",
    "Axis",
    "Count",
    "Dim",
    "Module",
    "ModuleGroup",
    "Op",
    "Param",
    "Part",
    "Region",
    "Role",
    "Seen",
    "Tensor",
    "axes",
    "walk",
]


ALIGNED_ROWS = 32
TWO = Dim.of("two", 2)
Seen = tuple[Count, Count]  # (query, key) pairs that a mask leaves, of how many


@dataclass(frozen=True, eq=False, repr=False)
class Param(Tensor):
    """A weight, owned by the module that declares it and usable anywhere, so a tied one is counted once.

    `weight_role` says what it does in its layer (a query projection, a router, a table), for formats and rules.
    `active` is how many of its elements a token meets, where that is not all of them: the chosen experts'.
    """

    name: str = "weight"
    owner: Module = field(default_factory=lambda: Module("model"))
    elements: Count = ONE
    weight_role: Role = Role.OTHER
    trainable: bool = True
    active: Count | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Op:
    """One recorded step. `over` are the dims summed away, `select` the dims that are indexed instead.

    `beside` are tensors made besides the output. `seen` is how many (query, key) pairs a mask leaves, of how many, for
    ops of attention, whose cost people also count without what is masked.
    """

    kind: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    over: tuple[Dim, ...] = ()
    select: tuple[Dim, ...] = ()
    name: str = ""  # under which the output stands in `archcalc shapes`; unnamed outputs are steps on the way
    note: str = ""
    beside: dict[str, Tensor] = field(default_factory=dict)
    seen: Seen | None = None
    title: str = ""  # what `archcalc shapes` calls it, where its name says too little
    is_aside: bool = False  # stands beside the output of its module: the last states of a recurrent layer
    windows: tuple[Along, ...] = ()  # what it does along each side of a map: convolutions and pooling
    sees: int | None = None  # of attention: how many positions a query sees, where these are not all before it

    def __repr__(self) -> str:
        """In one line: what it is called, its kind, what it reads, what it sums over, what comes out."""
        name = f"{self.name} = " if self.name else ""
        over = [f"over {', '.join(dim.name for dim in self.over)}"] if self.over else []
        return f"{name}{self.kind}({', '.join([*map(str, self.inputs), *over])}) → {self.output}"

    @property
    def traits(self) -> Kind:
        """The properties of its kind of op."""
        return KINDS[self.kind]


class Module:
    """A node of the tree: `repeat` equal copies of what one run of the forward code recorded, each run `calls` times.

    Parameters are counted once a copy, computation once a call: shared layers and the steps of a recurrent net are one
    copy with many calls, a module that a decode step skips has none. `carries` says what a run hands to the next one.
    `body` holds ops and children in the order of their first op, so a fold reads it as a timeline.
    """

    def __init__(
        self,
        name: str,
        parent: Module | None = None,
        *,
        repeat: Count | None = None,
        style: Style = PLAIN,
        is_section: bool = False,
    ) -> None:
        self.name = name
        self.parent = parent
        self.ancestry: tuple[Module, ...] = (self, *(parent.ancestry if parent else ()))  # up to the root
        self.is_section = is_section  # a part of its parent without a path or row of its own
        shown = [one.name for one in self.ancestry if one.parent and not one.is_section]
        self.path = ".".join(reversed(shown))
        self.style: Style = parent.style if parent else style  # how its layers are computed
        self.repeat = repeat or ONE
        self.calls = ONE
        self.carries: list[tuple[Tensor, Tensor]] = []  # a run's input, and what the next run reads in place of it
        self.is_side_by_side = False  # its copies read the same, and none reads another one: two directions
        self.is_first_only = False  # of copies in a row, only the first runs it: the others read what it made
        self.region: Region | None = None  # the kind of region it is for analyses, if any
        self.takes_adapters = True  # False where its matrix is no linear layer of a library, and so gets no adapters
        self.group: ModuleGroup | None = parent.group if parent else None
        self.medium: str = parent.medium if parent else ""  # of a tower, images or audio: what it alone reads
        self.gives: Tensor | None = None  # what it makes for a later step, where this one does not read it
        self.like: Module | None = None  # the module whose parameters it uses, in the place of its own
        self.params: dict[str, Param] = {}
        self.buffers: dict[str, Tensor] = {}
        self.body: list[Op | Module] = []
        title = name.replace("_", " ")
        self.words = Words(title, title)
        self._named: dict[str, Module] = {}
        self._is_attached = False  # stands in its parent's body

    def __str__(self) -> str:
        """The tree below as a listing, to look at: parameters, ops and modules in the order in which they run.

        head
          weight[vocab 50257, d_model 768]
          logits = contract([seq 8, d_model 768], weight[vocab 50257, d_model 768], over d_model) → [seq 8, …]
        """
        copies = f" × {int(self.repeat):,}" if self.repeat > 1 else ""
        calls = "" if self.calls == 1 else f", {int(self.calls):,} calls each"
        unread = [child for child in self.children if child not in self.body]  # which record no op
        inner = [*self.params.values(), *self.body, *unread]
        return "\n".join([f"{self.name}{copies}{calls}", *(indent(str(item), "  ") for item in inner)])

    def __repr__(self) -> str:
        return f"Module({self.path or self.name!r})"

    def __getitem__(self, name: str) -> Module:
        """The child of that name, made on first use."""
        return self._named.get(name) or self.child(name)

    def child(
        self,
        name: str,
        *,
        repeat: Count | None = None,
        title: str = "",
        group: ModuleGroup | None = None,
        is_section: bool = False,
    ) -> Module:
        if name in self._named:
            raise ValueError(f"{self.path or 'the model'} has a child {name} already")
        made = self._named[name] = Module(name, self, repeat=repeat, is_section=is_section)
        if self.like:
            made.like = self.like._named.get(name) if is_section else self.like._named[name]
        if title:
            made.words.title = made.words.term = title
        made.group = group or made.group
        return made

    def section(self, name: str | Region) -> Module:
        """A section of this module, under the module's own path and without a row in reports. A region has a meaning
        for analyses: attention's core, a fused kernel, the loss."""
        made = self.child(f"{name} (section)", is_section=True)
        made.region = name if isinstance(name, Region) else None
        made.words.title, made.words.term = self.words.title, self.words.term
        return made

    def drop(self, child: Module) -> None:
        """Take a child out of the tree, with its ops and its parameters."""
        self.body.remove(child)
        del self._named[child.name]

    @property
    def runs(self) -> Count:
        """How often its ops run for one run of its parent."""
        return self.repeat * self.calls

    def remove(self, child: Module) -> None:
        """With all that it holds."""
        self.body = [item for item in self.body if item is not child]
        del self._named[child.name]

    @property
    def children(self) -> tuple[Module, ...]:
        """In the order of their first op; those that record none (stored, never read) come last."""
        used = dict.fromkeys([item for item in self.body if isinstance(item, Module)])
        return (*used, *[child for child in self._named.values() if child not in used])

    @property
    def ops(self) -> tuple[Op, ...]:
        return tuple(item for item in self.body if isinstance(item, Op))

    def param(
        self,
        name: str,
        *items: Dim | Axis,
        elements: Count | None = None,
        role: Role = Role.OTHER,
        trainable: bool = True,
        active: Count | None = None,
    ) -> Param:
        """Declare a parameter with its axes as PyTorch keeps them; `elements` when people multiply in another order."""
        if name in self.params:
            raise ValueError(f"{self.path} has a parameter {name} already")
        if self.like:
            return self.like.params[name]
        counted = elements or product([dim.size for axis in axes(*items) for dim in axis])
        made = Param(
            axes(*items),
            "param",
            name=name,
            owner=self,
            elements=counted,
            weight_role=role,
            trainable=trainable,
            active=active,
        )
        self.params[name] = made
        return made

    def buffer(self, name: str, *items: Dim | Axis, role: str = "buffer") -> Tensor:
        """Declare a buffer: stored with the parameters, never trained, not counted as a parameter."""
        if self.like:
            return self.like.buffers[name]
        made = self.buffers[name] = Tensor(axes(*items), role)
        return made

    def record(
        self,
        kind: str,
        *inputs: Tensor,
        to: Axes | None = None,
        over: tuple[Dim, ...] = (),
        select: tuple[Dim, ...] = (),
        name: str = "",
        note: str = "",
        title: str = "",
        seen: Seen | None = None,
        is_aside: bool = False,
        windows: tuple[Along, ...] = (),
        sees: int | None = None,
        role: str = "",
    ) -> Tensor:
        """Record one op and return its output: shaped like the first input unless `to` says otherwise, in the role that
        its kind has unless another is given; what is made of an fp32 tensor is fp32."""
        if kind not in KINDS:
            raise ValueError(f"unknown kind of op: {kind}")
        traits = KINDS[kind]
        of = inputs[0] if traits.view and inputs else None  # a view of a detached tensor is detached too
        is_wide = bool(inputs) and inputs[0].role == "stat"
        made_in = role or ("stat" if is_wide and traits.role == "act" else traits.role)
        shape = to if to is not None else inputs[0].axes
        stops = of.stops if of else False
        output = Tensor(shape, made_in, stops=stops, of=of, of_values=traits.of_values)
        known: dict[str, Dim] = {}
        for dim in chain.from_iterable(tensor.dims for tensor in (*inputs, output)):
            other = known.setdefault(dim.name, dim)
            if other is dim:
                continue
            if other.size != dim.size:
                raise ValueError(f"one name with two sizes in an op: {dim.name} is {other.size} and {dim.size}")
            if other.split != dim.split or other.positions is not dim.positions:
                raise ValueError(f"one name with two declarations in an op: {other} and {dim}")
        beside = _beside(traits, inputs, output) if traits.beside else {}
        said = (over, select, name, note, beside, seen, title, is_aside, windows, sees)
        return self.add(Op(kind, inputs, output, *said))

    def add(self, op: Op) -> Tensor:
        """The same of an op that is made already."""
        module = self
        while module.parent and not module._is_attached:
            module._is_attached = True
            module.parent.body.append(module)
            module = module.parent
        self.body.append(op)
        return op.output


def _beside(traits: Kind, inputs: tuple[Tensor, ...], output: Tensor) -> dict[str, Tensor]:
    """Tensors that a kind of op makes besides its output: like the input, one value per output row, or a few values.

    `aligned rows` are rows of attention, as many as the memory-efficient kernel keeps statistics of. Source: PyTorch,
    aten/src/ATen/native/transformers/cuda/attention.cu, kAlignLSE."""
    shapes: dict[str, Axes] = {
        "input": inputs[0].axes if inputs else (),
        "rows": output.axes[:-1],
        "columns": output.axes[-1:],
        "output": output.axes,
        "channels": output.axes[1:2],
        "groups": output.axes[:2],
        "one": (),
        "two": ((TWO,),),
    }
    if any(like == "aligned rows" for *_, like in traits.beside):
        rows = prod(int(dim.size) for dim in output.axes[-2])
        aligned = Dim.of("aligned_rows", -(-rows // ALIGNED_ROWS) * ALIGNED_ROWS)
        shapes["aligned rows"] = (*output.axes[:-2], (aligned,))
    is_wide = bool(inputs) and inputs[0].role == "stat"
    roles = {"act": "stat"} if is_wide else {}
    return {name: Tensor(shapes[like], roles.get(role, role)) for name, role, like in traits.beside}


def walk(module: Module, times: Count | None = None) -> Iterator[tuple[Module, Count]]:
    """Every module below, parents first, with how many copies of it the whole model holds."""
    left = [(module, module.repeat if times is None else times * module.repeat)]
    while left:
        module, copies = left.pop()
        yield module, copies
        left.extend([(child, copies * child.repeat) for child in reversed(module.children)])
