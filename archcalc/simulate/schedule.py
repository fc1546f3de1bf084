"""A step as a value: ops in their order, and in plain numbers all that a simulation needs to know about them.

    step = schedule(root, policy, trainable, size, [mark_logits, ...])      (archcalc.simulate.build)
    step.steps(), step.bytes[cell], step.saved()

Whatever an option changes about a step (mixed precision, checkpointing, ZeRO, a compiler, chunks of the loss) is a
pass: a function that is handed a schedule and gives it on, changed. Passes run one after the other, so that each finds
what the ones before it left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from archcalc.core.ir import Module, Param, Tensor
from archcalc.simulate.nodes import Cell, Group, Node, Step
from archcalc.storage.places import Place


class Stored(Protocol):
    """What passes ask about a run's parameters: how they are stored, and which of them are trained."""

    def quantised(self, param: Param) -> bool:
        """Whether it is stored quantised, and dequantised for its matrix products."""

    def trained(self, param: Param) -> bool:
        """Whether it has a gradient and optimizer states."""

    def weights(self, place: Place, elements: int) -> int:
        """Bytes of all copies."""


class Saved(NamedTuple):
    """A cell that is alive after the forward pass, for the first who saved it: the module of an op, or a recomputed
    block; `times` is how many like it there are, `bytes` what all of them take. `savers` are all who save it: numbers
    of steps, or of a recomputed group's first."""

    module: Module
    cell: Cell
    times: int
    bytes: int
    savers: list[int]


class GradientBytes(NamedTuple):
    """Of one copy of a parameter."""

    made: int  # as the backward pass makes it
    share: int = 0  # what this GPU keeps once it has been reduced
    flat: int = 0  # of the reduce-scatter's flat input


@dataclass
class Schedule:
    """The tables say of every cell what passes may change; what follows them is written by passes alone."""

    root: Module
    nodes: list[Node] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)  # every block in order, and what may be recomputed within
    blocks: list[Group] = field(default_factory=list)  # the runs of blocks
    bytes: dict[Cell, int] = field(default_factory=dict)
    last_read: dict[Cell, int] = field(default_factory=dict)  # number of the step, going forward

    at_start: dict[str, int] = field(default_factory=dict)  # bytes that are there before the step, by part
    unread: str = "temporary"  # the part of tensors that no backward pass needs
    logits: set[Cell] = field(default_factory=set)  # accounted as logits, not as activations
    loss_chunks: int = 1  # that they are made in, one after the other
    logits_copies: int = 0  # tensors of logits that a loss makes for a moment, besides what it saves
    held_until: dict[Cell, str] = field(default_factory=dict)  # by the training loop: loss, backward, next_forward
    left_over: list[tuple[str, int]] = field(default_factory=list)  # of the last step, until the model returns
    outliving: set[Cell] = field(default_factory=set)  # alive as long as the graph, and not the backward pass
    holds_entering: bool = False  # what enters a recomputed block, and its gradient, until the backward pass is done
    offloaded: dict[Group, list[Cell]] = field(default_factory=dict)  # what of a block's leaves for host RAM
    empties_autocast: bool = False  # copies of weights that autocast cached are freed behind the loss
    workspace: int = 0  # of all matrix products, from the first one on

    trains: bool = False  # a backward pass and an optimizer's step follow
    gradients: dict[Param, GradientBytes] = field(default_factory=dict)
    accumulates: bool = False  # gradients of earlier micro-batches are there
    to_host: bool = False  # gradients go to host RAM, and shards of weights come from there
    reduces: bool = False  # gradients are summed over GPUs and divided as soon as a block is done
    reduce_bucket: int = 0  # a buffer that gradients are summed over GPUs in, while the backward pass runs
    rounding: int = 0  # what a flat buffer of all gradients takes beyond the sum of shares
    updates: Sequence[Sequence[int]] = ()  # of the optimizer's step: blocks that exist at once, turn after turn

    shards: int = 1  # GPUs that weights are gathered from
    gathered_first: tuple[int, ...] = ()  # bytes of parameters in front of the blocks, if a group of their own
    gathered_last: tuple[int, ...] = ()  # behind the blocks, likewise
    gathered_root: tuple[int, ...] = ()  # of all that is in no other group: gathered from the first op to the last

    def steps(self, group: Group | None = None) -> list[Step]:
        """Every step in order, or those of a group."""
        nodes = self.nodes[group.begin : group.end] if group else self.nodes
        return [node for node in nodes if isinstance(node, Step)]

    def add_cell(self, step: Step, tensor: Tensor, size: int, *, of_input: bool = False) -> Cell:
        """One more tensor that the step makes."""
        made = Cell(tensor, of_input)
        self.bytes[made], self.last_read[made] = size, step.number
        step.makes.append(made)
        return made

    def saved(self) -> list[Saved]:
        """Everything that is saved for the backward pass, at the first who saves it. The tensors of a recomputed group
        are not, only its inputs and some of its results."""
        found: dict[Cell, Saved] = {}
        behind = 0  # the end of a recomputed group
        for position, node in enumerate(self.nodes):
            if position < behind:
                continue
            if isinstance(node, Step):
                number, times, cells = node.number, node.times, dict.fromkeys(node.saves, node.module)
            elif isinstance(node.region, Group) and node.region.recomputed and not node.is_end:
                group = node.region
                number, times, behind = group.first, group.times, group.end
                cells = dict.fromkeys(group.reads, group.module) | group.results
            else:
                continue
            for cell, module in cells.items():
                if cell not in found:
                    found[cell] = Saved(module, cell, times, times * self.bytes[cell], [])
                found[cell].savers.append(number)
        return list(found.values())


Pass = Callable[[Schedule], Schedule]
