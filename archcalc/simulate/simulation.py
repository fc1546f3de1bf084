"""Simulate the memory of a step: forward, loss, backward, optimizer.

    simulate(schedule)       every allocation and free, in order; `Levels` plays them

Going forward an op makes its output, and what nobody reads any more is freed unless the backward pass needs it. Going
back an op makes the gradients of its inputs, adds them to what is there, and frees what it saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from archcalc.core.ir import Module, Region
from archcalc.simulate.events import Block, Change, Event, Ledger, Stream
from archcalc.simulate.nodes import Cell, Group, Loop, Step
from archcalc.simulate.op_memory import OpMemory
from archcalc.simulate.schedule import Schedule


def simulate(schedule: Schedule) -> list[Event]:
    """Every change in bytes over one step; the schedule stays as it is."""
    ledger, blocks = Ledger(), schedule.blocks
    uses = Counter(wanted for step in schedule.steps() for wanted in step.grads)
    savers, is_added = {one.cell: one.savers for one in schedule.saved()}, schedule.accumulates or schedule.to_host
    ops = OpMemory(schedule, ledger, savers, uses, is_added)
    before = dict(zip(blocks, [None, *blocks], strict=False))
    step = _Simulation(schedule, ledger, Gathering(ledger, schedule.shards, schedule.to_host), ops, before)
    step.forward()
    if schedule.trains:
        step.backward()
        step.update()
    return ledger.changes


@dataclass
class _Simulation:
    """A walk over the nodes of a schedule, forward and back."""

    schedule: Schedule
    ledger: Ledger
    gathering: Gathering
    ops: OpMemory
    before: dict[Group, Group | None]  # the block that runs before each
    gathered: dict[Group | str, list[Block]] = field(default_factory=dict)  # weights, of blocks and outside of them
    left_over: list[Block] = field(default_factory=list)  # what the training loop still holds of the last step
    workspace: Block | None = None

    # forward

    def forward(self) -> None:
        schedule, ledger = self.schedule, self.ledger
        self.left_over = [ledger.allocate(part, size, "left of the last step") for part, size in schedule.left_over]
        self.workspace = ledger.allocate("temporary", schedule.workspace, "workspace of matrix products")
        self.gathered["root"] = self.gathering.forward(schedule.gathered_root)
        self.gathered["first"] = self.gathering.forward(schedule.gathered_first)
        self.gathered["last"] = []
        is_recomputed = False
        staying = self.ops.savers.keys() | schedule.held_until.keys()
        losses = [step.number for step in schedule.steps() if step.module.region == Region.LOSS]
        last = max(losses, default=len(schedule.nodes))  # what follows is the loss that the model gives out
        for node in schedule.nodes:
            if isinstance(node, Step):
                is_loss = node.module.region == Region.LOSS or node.number > last
                ledger.at("loss" if is_loss else "forward", node.module, node.number)
                if is_loss:
                    self._return()
                self.ops.compute(node, staying, is_recomputed=is_recomputed)
            elif isinstance(node.region, Loop):
                ledger.cross(node.region, begins=not node.is_end)
            elif node.region in self.before:
                is_recomputed = node.region.recomputed and not node.is_end
                self._cross_block(node.region, is_end=node.is_end)
        self._return()

    def _return(self) -> None:
        """The model has given its output."""
        self.ledger.free(self.gathering.output, *self.left_over)
        self.gathering.output, self.left_over = None, []

    def _cross_block(self, group: Group, *, is_end: bool) -> None:
        """What the block before saved has been copied to host RAM while this one computed."""
        ledger, before = self.ledger, self.before[group]
        if not is_end:
            ledger.at(ledger.phase, group.module, group.first)
            ledger.run = group.first
            ledger.free(*self.gathered.pop("first", ()))
            self.gathered[group] = self.gathering.forward(group.gathered)
            return
        ledger.module = group.module
        if group.reshards:
            ledger.free(*self.gathered.pop(group))
        if before:
            self.ops.free(*self.schedule.offloaded.get(before, ()))
        if group is self.schedule.blocks[-1]:
            self.gathered["last"] = self.gathering.forward(self.schedule.gathered_last)
        ledger.run = 0

    # backward

    def backward(self) -> None:
        schedule, ledger = self.schedule, self.ledger
        ledger.at(ledger.phase, ledger.module)
        if schedule.empties_autocast:
            self._empty_autocast()
        ledger.phase = "backward"
        self._free_logits("loss")
        bucket = ledger.allocate("temporary", schedule.reduce_bucket, "bucket of gradients to reduce")
        self._go_back()
        self._free_logits("backward")
        ledger.free(*self.gathered["root"])
        self.ops.reduce()
        if not self.ops.is_added:
            self.ops.done.append(ledger.allocate("gradients", schedule.rounding, "rounding of the gradients"))
        ledger.free(self.ops.flat, bucket)

    def update(self) -> None:
        """The optimizer's step, which is an instant of its own even where it needs nothing besides."""
        ledger = self.ledger
        ledger.at("step", Module("model"))
        ledger.changes.append(Change("temporary", 0, "step", ledger.module, Block("temporary", 0)))
        for turn in self.schedule.updates:
            ledger.free(*[ledger.allocate("temporary", size, "optimizer's update") for size in turn])
        ledger.free(*self.ops.done, *self.ops.held, self.workspace)

    def _empty_autocast(self) -> None:
        """Behind the loss, copies live on where a product saved them: no biases, and none of what is recomputed."""
        behind = 0  # the end of a recomputed group
        for position, node in enumerate(self.schedule.nodes):
            if isinstance(node, Step):
                for copy in node.weight_copies:
                    if not copy.is_saved or position < behind:
                        self.ledger.free(self.ops.weight_copies.pop((copy.param, node.number), None))
            elif isinstance(node.region, Loop):
                self.ledger.cross(node.region, begins=not node.is_end)
            elif node.region.recomputed:
                behind = max(behind, node.region.end)

    def _free_logits(self, until: str) -> None:
        """Logits that the training loop held so long, unless the backward pass has yet to read them."""
        held = self.schedule.held_until.items()
        self.ops.free(*(cell for cell, when in held if when == until and not self.ops.savers.get(cell)))

    def _go_back(self) -> None:
        nodes, has_prefetched = self.schedule.nodes, False
        recomputed: dict[int, Group] = {}  # groups by the node that first asks for what they saved
        for position in reversed(range(len(nodes))):
            node = nodes[position]
            if position in recomputed:
                self._recompute(recomputed.pop(position))
            if isinstance(node, Step):
                self.ledger.at("backward", node.module, node.number)
                if not has_prefetched and node.module.region != Region.LOSS:  # by a hook on the model's output
                    has_prefetched = True
                    self._prefetch(self.schedule.blocks[-1] if self.schedule.blocks else None)
                self.ops.differentiate(node)
            elif isinstance(node.region, Loop):
                self.ledger.cross(node.region, begins=node.is_end, is_reversed=True)
            elif node.is_end:
                if node.region in self.before:
                    has_prefetched = True  # of a model that ends with a block
                    self._back_into(node.region)
                if node.region.recomputed and any(step.grads for step in self.schedule.steps(node.region)):
                    # when its first saved tensor is asked for, and not by last steps that saved nothing
                    inside = range(node.region.end - 1, node.region.begin, -1)
                    asking = (at for at in inside if not isinstance(one := nodes[at], Step) or one.packs)
                    recomputed[next(asking, node.region.begin)] = node.region
            else:
                self.ops.free_inputs(node.region)
                if self.schedule.holds_entering and node.region.recomputed:
                    self._hold_entering(node.region)
                if node.region in self.before:
                    self._back_out_of(node.region)

    def _hold_entering(self, group: Group) -> None:
        """Each leaf that wants a gradient, and that: both are there until the step is done."""
        wanted = dict.fromkeys(one for step in self.schedule.steps(group) for one in step.grads if one in group.reads)
        for cell in wanted:
            if isinstance(cell, Cell):
                for use in ("input of the block", "gradient of"):
                    self.ledger.allocate("activations", self.schedule.bytes[cell], use, cell.tensor)

    def _back_into(self, group: Group) -> None:
        """What the block before saved is copied from host RAM while this one is differentiated."""
        ledger, schedule, before = self.ledger, self.schedule, self.before[group]
        ledger.at("backward", group.module, group.first)
        ledger.run = group.first
        if group is schedule.blocks[-1] and schedule.gathered_last:
            ledger.free(*self.gathered.pop("last"))
            self.ops.reduce()
        if group not in self.gathered:
            self.gathered[group] = self.gathering.copied_out(group.gathered)
        self._prefetch(before)
        for cell in schedule.offloaded.get(before, ()) if before else ():
            self.ops.allocate(cell, True)

    def _back_out_of(self, group: Group) -> None:
        ledger, schedule = self.ledger, self.schedule
        ledger.module = group.module
        ledger.free(*self.gathered.pop(group))
        if schedule.reduces:
            self.ops.reduce(group.module)
        if group is schedule.blocks[0]:
            ledger.free(*self.gathering.copied_out(schedule.gathered_first))
        ledger.run = 0

    def _prefetch(self, block: Group | None) -> None:
        """Gather ahead of time the weights of a block, or of what stands in front of all of them."""
        sizes = block.gathered if block else self.schedule.gathered_first
        self.gathering.prefetched = None if block in self.gathered else self.gathering.gather(sizes)

    def _recompute(self, group: Group) -> None:
        """Compute the inside again, up to the last tensor that the backward pass needs; results behind it stay."""
        inside, leaves = self.schedule.steps(group), list[Block]()
        needed = {cell: None for step in inside for cell in step.saves}  # in order: so pieces of memory are freed
        for cell in group.results:
            self.ops.savers[cell].remove(group.first)
        for step in inside:
            for cell in step.saves:
                self.ops.savers.setdefault(cell, []).append(step.number)
        saving = [step.number for step in inside if step.saves]
        self.ops.replayed.update(saving)
        self.ops.last_needed.update({number: group for number in saving[:1] if group.module.region == Region.BLOCK})
        last = _last_again(inside)
        made = {cell: None for step in inside if step.number <= last for cell in step.makes}
        passing = {cell: None for cell in made if cell not in needed}
        staying = {cell for step in inside for cell in (*step.reads, *step.makes) if cell not in passing}
        for node in self.schedule.nodes[group.begin : group.end]:
            if isinstance(node, Step):
                if node.number > last:
                    continue
                self.ledger.at("backward", node.module, node.number)
                if node.op in group.done:  # its result was saved, but its inputs may be freed after it
                    touched = [cell for cell in (*node.reads, *node.makes) if cell in passing]
                    self.ops.free(*(cell for cell in touched if self.schedule.last_read[cell] <= node.number))
                    continue
                if node.is_leaf:  # made twice: the graph holds the first one
                    size = self.schedule.bytes[node.output]
                    leaves.append(self.ledger.allocate(self.schedule.unread, size, "copy of", node.output.tensor))
                self.ops.compute(node, staying)
            elif isinstance(node.region, Loop):
                self.ledger.cross(node.region, begins=not node.is_end)
        self.ledger.free(*leaves)
        self.ops.free(*passing)
        for cell in needed:
            if cell.of_input:
                self.ops.allocate(cell, True)


def _last_again(inside: list[Step]) -> int:
    """The last op that is recomputed; one that saves no more than it reads is stopped before it computes."""
    packing = [step for step in inside if step.packs]
    if not packing:
        return -1
    step = packing[-1]
    return step.number - all(cell in step.reads or cell.of_input for cell in step.saves)


Sizes = Sequence[int]  # bytes of the gathered parameters of a group


@dataclass
class Gathering:
    """FSDP2's memory besides its shards: gathered weights, and the buffers of an all-gather, on their stream.

    A group of parameters is cast into a flat input, gathered into a flat output on the all-gather stream, and copied
    out of that into one tensor for each parameter on the compute stream. Going forward the flat output is freed once
    the next group has been gathered; going back it is freed at once, and the group before is gathered while this one
    computes. Every group is empty where weights are not sharded, and nothing is written down.
    Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py."""

    ledger: Ledger
    gpus: int  # that shards are gathered from
    are_offloaded: bool = False  # shards, which are then copied to the GPU before they are cast
    output: Block | None = None  # of the last all-gather going forward
    prefetched: Block | None = None  # of the next one going back

    def forward(self, group: Sizes) -> list[Block]:
        """A group is gathered and copied out; the output of the group before it is freed in between."""
        output = self.gather(group)
        self.ledger.free(self.output)
        self.output = output
        return self._copied(group)

    def copied_out(self, group: Sizes) -> list[Block]:
        """Going back a group is copied out of what was prefetched."""
        output = self.prefetched or self.gather(group)
        gathered = self._copied(group)
        self.ledger.free(output)
        self.prefetched = None
        return gathered

    def _copied(self, group: Sizes) -> list[Block]:
        return [self.ledger.allocate("temporary", size, "gathered weights") for size in group]

    def gather(self, group: Sizes) -> Block | None:
        """The shards are cast into a flat input first, which is freed when the collective has begun."""
        whole = sum(group)
        if not whole:
            return None
        share = whole // self.gpus
        allocate = partial(self.ledger.allocate, "temporary", stream=Stream.ALL_GATHER)
        copied = allocate(share * self.are_offloaded, "shard from host RAM")
        cast = allocate(share, "shard to gather")
        output = allocate(whole, "output of the all-gather")
        self.ledger.free(copied, cast)
        return output
