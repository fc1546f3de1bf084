"""The graph that a diagram shows: nodes inside nodes, and tensors that go from one to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from archcalc.core.ir import Tensor


class Form(StrEnum):
    """How a node is drawn."""

    BOX = "box"  # a closed module
    FRAME = "frame"  # an opened one, around its contents
    STEP = "step"  # one op of an opened module
    SIGN = "sign"  # one that a sign stands for: + − × ÷
    INPUT = "input"
    OUTPUT = "output"
    STATE = "state"  # what a recurrent step hands to the next one


class PartKind(StrEnum):
    """What a part of a model is, by which diagrams colour it."""

    EMBEDDING = "embedding"
    ATTENTION = "attention"
    FEED_FORWARD = "feed-forward"
    EXPERTS = "mixture of experts"
    NORM = "normalisation"
    CONVOLUTION = "convolution"
    POOLING = "pooling"
    RECURRENT = "recurrent"
    STATE_SPACE = "state space"
    LINEAR = "linear"
    HEAD = "output layer"
    ACTIVATION = "activation"
    STACK = "several kinds"
    OTHER = "other"


@dataclass(eq=False)
class Node:
    """A part of the model. Its parameters are those of one copy, with everything inside it."""

    key: str
    title: str
    form: Form
    kind: PartKind
    level: int  # of the tree of modules: children of the model stand at 1
    order: int  # of its first op in the forward pass
    parent: Node | None = None
    detail: str = ""
    parameters: int = 0
    repeat: int = 1  # equal copies, one after the other
    calls: int = 1  # how often each copy runs: the steps of a recurrent net, the layers that share weights
    makes: tuple[str, ...] = ()  # the kinds of its ops, in their order: its structure, whatever its sizes
    is_side_by_side: bool = False  # its copies read the same
    is_step: bool = False  # runs for each position of a sequence
    step: str = ""  # what a layer runs at each position: LSTM step
    keeps: tuple[str, ...] = ()  # what a recurrent layer keeps for its own next step
    reads_weights_of: str = ""  # the module whose weights it shares, where it has none of its own
    children: list[Node] = field(default_factory=list)
    others: list[Node] = field(default_factory=list)  # of the same structure in other sizes, which it stands for too
    until: str = ""  # the title of the last of them
    times: tuple[int, ...] = ()  # copies of each that it stands for, where these are folded

    def __repr__(self) -> str:
        return f"Node({self.key!r}, {self.form})"

    def walk(self) -> Iterator[Node]:
        """The node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self) -> Iterator[Node]:
        """The nodes below it without contents, or itself."""
        return (node for node in self.walk() if not node.children)

    @property
    def name(self) -> str:
        """`dense 1 … dense 6`, where it stands for several."""
        return f"{self.title} … {self.until}" if self.until not in ("", self.title) else self.title

    @property
    def above(self) -> Iterator[Node]:
        """The node itself, then those around it."""
        node: Node | None = self
        while node:
            yield node
            node = node.parent

    @property
    def copies(self) -> int:
        """How many of it the whole model holds; of the first of those that it stands for."""
        copies = 1
        for node in self.above:
            copies *= node.repeat
        return copies

    @property
    def total(self) -> int:
        """The parameters of all copies of it in the whole model, and of what it stands for."""
        return sum(each.parameters * each.copies for each in (self, *self.others))

    @property
    def last(self) -> Node:
        """Of those that it stands for; itself, where it stands for no other."""
        return self.others[-1] if self.others else self


@dataclass(frozen=True, eq=False)
class Edge:
    """A tensor that one node makes and another one reads."""

    source: Node
    target: Node
    tensor: Tensor
    made: int  # the order of the op that made it
    feedback: bool = False  # read by the next step of a recurrent net


@dataclass(frozen=True, eq=False)
class Graph:
    """The whole picture: the model as the outermost node, and the edges between nodes without contents."""

    root: Node
    edges: tuple[Edge, ...]
    lasts: Mapping[Tensor, Tensor] = field(default_factory=dict)  # of tensors that stand for several, the last of them
