"""Simulate the memory of a step: forward, loss, backward, optimizer.

    simulate(schedule)       every allocation and free, in order; `Levels` plays them

Going forward an op makes its output, and what nobody reads any more is freed unless the backward pass needs it. Going
back an op makes the gradients of its inputs, adds them to what is there, and frees what it saved.
"""

from __future__ import annotations

from collections.abc import Container

from archcalc.core.ir import Module, Region
from archcalc.simulate.events import Block, Event
from archcalc.simulate.gathering import Gathering
from archcalc.simulate.ledger import Ledger
from archcalc.simulate.nodes import Cell, Group, Loop, ParamCopy, Step
from archcalc.simulate.parameter_gradients import ParameterGradients
from archcalc.simulate.schedule import Schedule
from archcalc.simulate.tensor_gradients import Gradient, TensorGradients


def simulate(schedule: Schedule) -> list[Event]:
    """Every change in bytes over one step; the schedule stays as it is."""
    step = _Simulation(schedule)
    step.forward()
    if schedule.trains:
        step.backward()
        step.update()
    return step.ledger.changes


class _Simulation:
    """The live tensors at one instant of a step."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule, self.ledger = schedule, Ledger()
        self.alive: dict[Cell, Block] = {}
        self.savers = schedule.savers()
        self.blocks = schedule.blocks()
        self.places = {group: place for place, group in enumerate(self.blocks)}
        self.weight_copies: dict[ParamCopy, Block] = {}  # by the number of the step
        self.gathering = Gathering(self.ledger, schedule.shards, schedule.to_host)
        self.gathered: dict[Group | str, list[Block]] = {}  # weights, of blocks and of what stands outside of them
        self.gradients = TensorGradients(schedule, self.ledger)
        self.trained = ParameterGradients(schedule, self.ledger, self.gathering)
        self.last_needed: dict[int, Group] = {}  # blocks by the last step that needs what was recomputed
        self.replayed: set[int] = set()  # steps that go back with recomputed tensors
        self.left_over: list[Block] = []  # what the training loop still holds of the last step
        self.workspace: Block | None = None

    # forward

    def forward(self) -> None:
        schedule, ledger = self.schedule, self.ledger
        self.left_over = [ledger.allocate(part, size) for part, size in schedule.left_over]
        self.workspace = ledger.allocate("temporary", schedule.workspace)
        self.gathered["root"] = self.gathering.forward(schedule.gathered_root)
        self.gathered["first"] = self.gathering.forward(schedule.gathered_first)
        self.gathered["last"] = []
        is_recomputed = False
        staying = self.savers.keys() | schedule.held_until.keys()
        for node in schedule.nodes:
            if isinstance(node, Step):
                is_loss = node.module.region == Region.LOSS
                ledger.at("loss" if is_loss else "forward", node.module, node.number)
                if is_loss:
                    self._return()
                self._compute(node, staying, is_recomputed=is_recomputed)
            elif isinstance(node.region, Loop):
                ledger.cross(node.region, begins=not node.is_end)
            elif node.region in self.places:
                is_recomputed = node.region.recomputed and not node.is_end
                if node.is_end:
                    self._leave_block(node.region)
                else:
                    self._enter_block(node.region)
        self._return()

    def _return(self) -> None:
        """The model has given its output."""
        self.gathering.loss()
        self.ledger.free(*self.left_over)
        self.left_over = []

    def _enter_block(self, group: Group) -> None:
        self.ledger.at(self.ledger.phase, group.module, group.first)
        self.ledger.run = group.first
        self.ledger.free(*self.gathered.pop("first", ()))
        self.gathered[group] = self.gathering.forward(group.gathered)

    def _leave_block(self, group: Group) -> None:
        """What the block before saved has been copied to host RAM while this one computed."""
        self.ledger.module = group.module
        if group.reshards:
            self.ledger.free(*self.gathered.pop(group))
        self._free(*self._offloaded_before(group))
        if group is self.blocks[-1]:
            self.gathered["last"] = self.gathering.forward(self.schedule.gathered_last)
        self.ledger.run = 0

    def _offloaded_before(self, group: Group) -> list[Cell]:
        """What leaves the GPU of the block that ran before this one."""
        place = self.places[group]
        return self.schedule.offloaded.get(self.blocks[place - 1], []) if place else []

    def _compute(self, step: Step, staying: Container[Cell], *, is_recomputed: bool = False) -> None:
        """Make what the op makes; whatever does not stay goes with the last op that reads it."""
        ledger, schedule = self.ledger, self.schedule
        self._copy_weights(step)
        touched = (*step.reads, *step.makes)
        scratch = [ledger.allocate(schedule.unread, size) for size in step.scratch]
        for cell in touched:
            self._allocate(cell, cell in staying)
        ledger.free(*scratch)
        ledger.for_a_moment("logits", schedule.logits_copies * self._loss_bytes(step))
        ledger.for_a_moment("temporary", step.gathered_keys)
        for copy in step.weight_copies:
            if not (copy.is_cached or (copy.is_saved and not is_recomputed)):
                ledger.free(self.weight_copies.pop((copy.param, step.number), None))
        passing = [cell for cell in touched if cell not in staying]
        self._free(*(cell for cell in passing if schedule.last_read[cell] <= step.number))

    def _copy_weights(self, step: Step) -> None:
        """For a matrix product, unless the copies still exist."""
        for copy in step.weight_copies:
            if (copy.param, step.number) not in self.weight_copies:
                self.weight_copies[copy.param, step.number] = self.ledger.allocate(copy.part, copy.bytes)

    def _loss_bytes(self, step: Step) -> int:
        """What a loss over a vocabulary makes of its logits; 0 of any other op."""
        name = step.op.traits.loss_of_logits
        return self.schedule.bytes[step.aux_outputs[name]] if name else 0

    # backward

    def backward(self) -> None:
        schedule, ledger = self.schedule, self.ledger
        ledger.at(ledger.phase, ledger.module)
        if schedule.empties_autocast:
            self._empty_autocast()
        ledger.phase = "backward"
        self._free_logits("loss")
        bucket = ledger.allocate("temporary", schedule.reduce_bucket)
        self._go_back()
        self._free_logits("backward")
        ledger.free(*self.gathered["root"])
        self.trained.reduce()
        if not self.trained.is_added:
            self.trained.done.append(ledger.allocate("gradients", schedule.rounding))
        self.gathering.end()
        ledger.free(bucket)

    def update(self) -> None:
        """The optimizer's step, which is an instant of its own even where it needs nothing besides."""
        ledger = self.ledger
        ledger.at("step", Module("model"))
        ledger.mark_phase()
        for turn in self.schedule.updates:
            ledger.free(*[ledger.allocate("temporary", size) for size in turn])
        ledger.free(*self.trained.done)
        for gradient in self.gradients.held:
            self.gradients.drop(gradient)
        ledger.free(self.workspace)

    def _empty_autocast(self) -> None:
        """Behind the loss, copies live on where a product saved them: no biases, and none of what is recomputed."""
        behind = 0  # the end of a recomputed group
        for position, node in enumerate(self.schedule.nodes):
            if isinstance(node, Step):
                for copy in node.weight_copies:
                    if not copy.is_saved or position < behind:
                        self.ledger.free(self.weight_copies.pop((copy.param, node.number), None))
            elif isinstance(node.region, Loop):
                self.ledger.cross(node.region, begins=not node.is_end)
            elif node.region.recomputed:
                behind = max(behind, node.region.end)

    def _free_logits(self, until: str) -> None:
        """Logits that the training loop held so long, unless the backward pass has yet to read them."""
        held = self.schedule.held_until.items()
        self._free(*(cell for cell, when in held if when == until and not self.savers.get(cell)))

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
                    self.gathering.prefetch(self._weights_before(len(self.blocks)))
                self._differentiate(node)
            elif isinstance(node.region, Loop):
                self.ledger.cross(node.region, begins=node.is_end, is_reversed=True)
            elif node.is_end:
                self._back_into(node.region)
                if node.region.recomputed and any(step.grads for step in self.schedule.steps(node.region)):
                    recomputed[self._first_asking(node.region)] = node.region
            else:
                self._back_out_of(node.region)

    def _first_asking(self, group: Group) -> int:
        """A block is recomputed when its first saved tensor is asked for, and not by last steps that saved nothing."""
        for position in reversed(range(group.begin + 1, group.end)):
            node = self.schedule.nodes[position]
            if not isinstance(node, Step) or node.packs:
                return position
        return group.begin

    def _back_into(self, group: Group) -> None:
        """What the block before saved is copied from host RAM while this one is differentiated."""
        if group not in self.places:
            return
        ledger, before = self.ledger, self._weights_before(self.places[group])
        ledger.at("backward", group.module, group.first)
        ledger.run = group.first
        if group is self.blocks[-1] and self.schedule.gathered_last:
            ledger.free(*self.gathered.pop("last"))
            self.trained.reduce()
        if group in self.gathered:
            self.gathering.prefetch(before)
        else:
            self.gathered[group] = self.gathering.backward(group.gathered, before)
        for cell in self._offloaded_before(group):
            self._allocate(cell, True)

    def _back_out_of(self, group: Group) -> None:
        self._free_inputs(group)
        if group not in self.places:
            return
        self.ledger.module = group.module
        self.ledger.free(*self.gathered.pop(group))
        if self.schedule.reduces:
            self.trained.reduce(group.module)
        if group is self.blocks[0]:
            self.ledger.free(*self.gathering.backward(self.schedule.gathered_first, ()))
        self.ledger.run = 0

    def _weights_before(self, place: int) -> tuple[int, ...]:
        """What an all-gather fills ahead of time: the weights of the block that ran before the one at this place."""
        if place == 0:
            return self.schedule.gathered_first
        before = self.blocks[place - 1]
        return () if before in self.gathered else before.gathered

    def _recompute(self, group: Group) -> None:
        """Compute the inside again, up to the last tensor that the backward pass needs; results behind it stay."""
        inside, leaves = self.schedule.steps(group), list[Block]()
        needed = {cell: None for step in inside for cell in step.saves}  # in order: so pieces of memory are freed
        for cell in group.results:
            self.savers[cell].remove(group.first)
        for step in inside:
            for cell in step.saves:
                self.savers.setdefault(cell, []).append(step.number)
        saving = [step.number for step in inside if step.saves]
        self.replayed.update(saving)
        self.last_needed.update({number: group for number in saving[:1] if group.module.region == Region.BLOCK})
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
                    self._free(*(cell for cell in touched if self.schedule.last_read[cell] <= node.number))
                    continue
                if node.is_leaf:  # made twice: the graph holds the first one
                    leaves.append(self.ledger.allocate(self.schedule.unread, self.schedule.bytes[node.output]))
                self._compute(node, staying)
            elif isinstance(node.region, Loop):
                self.ledger.cross(node.region, begins=not node.is_end)
        self.ledger.free(*leaves)
        self._free(*passing)
        for cell in needed:
            if cell.of_input:
                self._allocate(cell, True)

    def _differentiate(self, step: Step) -> None:
        """Make gradients, free what the op needed for them, and only then add them to others."""
        ledger, schedule = self.ledger, self.schedule
        self._copy_weights(step)
        # goes back through the mean, then through the log-probabilities
        of_loss = ledger.allocate("logits", self._loss_bytes(step) * (1 + schedule.logits_copies))
        ledger.for_a_moment("temporary", 2 * step.gathered_keys)  # and the gradients of all of them
        scratch = [ledger.allocate("temporary", size) for size in step.gradient_scratch if step.grads]
        wide = {one: self.gradients.computed_wide(step, one) for one in step.grads if isinstance(one, Cell)}
        at_once, later = self._order(step, wide)
        made = [(one, self._gradient(step, one, wide)) for one in at_once]
        if later:
            self._free_saved(step)
        made.extend((one, self._gradient(step, one, wide)) for one in later)
        ledger.free(*scratch, of_loss)
        for copy in step.weight_copies:
            ledger.free(self.weight_copies.pop((copy.param, step.number), None))
        if step.is_leaf:
            self.gradients.hold(step)
        self.gradients.free(step)
        self._free_saved(step)
        for wanted, gradient in made:
            if isinstance(wanted, Cell):
                assert not isinstance(gradient, Block)
                self.gradients.add(wanted, gradient)
            else:
                assert not isinstance(gradient, Gradient)
                self._add(step, wanted, gradient)

    def _order(self, step: Step, wide: dict[Cell, Block | None]) -> tuple[list[ParamCopy | Cell], ...]:
        """Gradients that the op computes, those that are cast last, and those that the engine finishes behind it.

        Of what was broadcast the engine sums the gradient behind the op, and of what is narrower it casts it; the op
        holds a tensor that was recomputed no longer than it needs it. A parameter's gradient that is a part of the
        arriving one needs no storage, and all of that is held with it: where tensors were joined and none was repeated.
        Source: PyTorch, validate_outputs in torch/csrc/autograd/engine.cpp; accumulateGrad in
        torch/csrc/autograd/functions/accumulate_grad.h, which takes it as it is."""
        op, later, at_once = step.op, list[ParamCopy | Cell](), list[ParamCopy | Cell]()
        summed = list(op.traits.summed(op)) if step.number in self.replayed else []
        is_joined = op.traits.divides_gradient and not (self.schedule.accumulates or self.schedule.reduces)
        for wanted in step.grads:
            tensor = wanted.tensor if isinstance(wanted, Cell) else wanted[0]
            is_cast = isinstance(wanted, Cell) and wide[wanted] is not None and step.number in self.replayed
            if is_cast or any(tensor in (one, one.storage) for one in summed):
                later.append(wanted)
            elif isinstance(wanted, Cell) or not (is_joined and self._is_part(step)):
                at_once.append(wanted)
        at_once.sort(key=lambda one: isinstance(one, Cell) and wide[one] is not None)
        return at_once, later

    def _is_part(self, step: Step) -> bool:
        """Whether the op joined its inputs as they are, and a gradient arrives, which is then held."""
        joined = sum(int(tensor.size) for tensor in step.op.inputs) == int(step.op.output.size)
        return joined and self.gradients.hold(step)

    def _gradient(
        self, step: Step, wanted: ParamCopy | Cell, wide: dict[Cell, Block | None]
    ) -> Gradient | Block | None:
        """Of a tensor, perhaps cast from a wide one; of a parameter, as the product of a cast copy makes it or as it
        is; None for one that is in its place already."""
        if isinstance(wanted, Cell):
            overwritten = self.alive.pop(wanted, None) if step.op.traits.gradient_in_input else None
            made = self.gradients.make(step, wanted, overwritten)
            self.ledger.free(wide[wanted])
            return made
        if wanted[0] in step.added_in_place:
            return None
        narrow = step.cast_gradients.get(wanted[0])
        return self.ledger.allocate("temporary", narrow) if narrow else self._of_parameter(step, wanted)

    def _of_parameter(self, step: Step, wanted: ParamCopy) -> Block:
        """That of a head in chunks is one chunk's beside the sum of those before."""
        made = self.trained.make(wanted)
        if self.schedule.loss_chunks > 1 and step.output in self.schedule.logits:
            self.ledger.for_a_moment("temporary", self.schedule.gradients[wanted[0]].made)
        return made

    def _add(self, step: Step, wanted: ParamCopy, made: Block | None) -> None:
        """A parameter's gradient to those of its other uses, once the op has freed all; a narrow one is cast back."""
        if made is None:
            self.trained.uses[wanted] -= 1
        elif step.cast_gradients.get(wanted[0]):
            cast = self._of_parameter(step, wanted)
            self.ledger.free(made)
            self.trained.add(wanted, cast, is_view=False)
        else:
            self.trained.add(wanted, made, is_view=step.op.traits.contraction)

    def _free_saved(self, step: Step) -> None:
        """Saved tensors after their last reader; after the last one of a recomputed block, its inputs too."""
        self._free(*(cell for cell in step.saves if min(self.savers[cell]) == step.number))
        group = self.last_needed.pop(step.number, None)
        if group:
            self._free_inputs(group)

    def _free_inputs(self, group: Group) -> None:
        for cell in (*group.reads, *group.results):
            if min(self.savers[cell], default=group.first) == group.first:
                self._free(cell)

    # cells

    def _allocate(self, cell: Cell, stays: bool) -> None:
        if cell not in self.alive:
            part = self.schedule.part(cell, stays)
            self.alive[cell] = self.ledger.allocate(part, self.schedule.bytes[cell], what=cell.tensor)

    def _free(self, *cells: Cell) -> None:
        for cell in cells:
            if cell in self.alive and cell not in self.schedule.outliving:
                self.ledger.free(self.alive.pop(cell))


def _last_again(inside: list[Step]) -> int:
    """The last op that is recomputed; one that saves no more than it reads is stopped before it computes."""
    packing = [step for step in inside if step.packs]
    if not packing:
        return -1
    step = packing[-1]
    return step.number - all(cell in step.reads or cell.of_input for cell in step.saves)
