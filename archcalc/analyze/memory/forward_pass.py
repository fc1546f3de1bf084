"""The forward pass of a simulated step: an op makes its output, and what nobody reads any more is freed unless the
backward pass needs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from archcalc.analyze.memory.fsdp import Gathered, Gathering
from archcalc.analyze.memory.gradients import TensorGradients
from archcalc.analyze.memory.ledger import Ledger
from archcalc.analyze.memory.parameters import Copy, ParameterGradients, WeightCopies
from archcalc.analyze.memory.profile import Block
from archcalc.analyze.memory.schedule import Cell, Group, Loop, Node, Schedule, Step
from archcalc.analyze.memory.step_policy import StepPolicy
from archcalc.core.ir import Region


class ForwardPass:
    """The live tensors at one instant of a step, and what a forward pass does with them."""

    def __init__(self, schedule: Schedule, policy: StepPolicy) -> None:
        self.schedule, self.policy, self.ledger = schedule, policy, Ledger()
        self.alive: dict[Cell, Block] = {}
        self.savers = {cell: list(numbers) for cell, numbers in schedule.savers.items()}
        self.gradients = TensorGradients(schedule, self.ledger)
        self.last_needed: dict[int, Group] = {}  # blocks by the last step that needs what was recomputed
        self.replayed: set[int] = set()  # steps that go back with recomputed tensors
        self.leaves: list[Block] = []  # made a second time by the block that is being recomputed
        self.held: dict[Cell, None] = {}  # by the training loop, until the step is done; in order, as all that is freed
        self.gathering = Gathering(self.ledger, policy.gpus, policy.offloads)
        self.copies = WeightCopies(policy, self.ledger)
        self.trained = ParameterGradients(policy, self.ledger, self.gathering, _uses(schedule))
        self.blocks = [group for group in schedule.groups() if group.module.region == Region.BLOCK]
        self.outside = Gathered(self.ledger)  # gathered weights of what stands outside of blocks
        self.ahead = self.behind = Gathered(self.ledger)  # likewise, where both ends are groups of their own
        self.gathered: dict[Group, Gathered] = {}  # blocks whose weights the forward pass left gathered
        self.has_prefetched = False
        self.returned, self.losses = _read_by_loss(schedule), _losses(schedule)
        self.products: Block | None = None  # where matrix products compute
        self.of_last_step: list[Block] = []  # what the training loop still holds of it

    def forward(self) -> None:
        self._hold_last_step()
        self._hold_batch()
        self.products = self.ledger.allocate("temporary", self.policy.product_workspace)
        self.outside = self.gathering.forward(self.policy.groups.root)
        self.ahead = self.gathering.forward(self.policy.groups.first)
        self._forward(self.schedule.nodes)
        self._returns()

    def _hold_batch(self) -> None:
        """Ids and labels are there before the model reads them, and its loss until the step is done."""
        if self.policy.holds_batch:
            leaves = (step.output.place for step in self.schedule.steps() if is_leaf(step))
            self.held = dict.fromkeys((*self.schedule.entering, *self.losses, *leaves))
            for cell in self.schedule.entering:
                self._allocate(cell, True)

    def _let_go_of_batch(self) -> None:
        held, self.held = self.held, {}
        for cell in held:
            self._free(cell)

    def _gradient_of_loss(self) -> Block:
        """The ones that `backward` starts from, which it holds until it is done."""
        size = sum(self.schedule.bytes[cell] for cell in self.losses) if self.policy.holds_batch else 0
        return self.ledger.allocate("logits", size)

    def _hold_last_step(self) -> None:
        """A loop whose variable is assigned when the model returns holds the last step's logits until then, and with
        them that step's graph."""
        if self.policy.logits_held == "next_forward" and self.policy.has_last_step:
            held = [*self.returned, *(cell for cell in self.savers if cell in self.schedule.outliving)]
            sizes = self.schedule.sizes_of(held)
            self.of_last_step = [self.ledger.allocate(self._part(cell, True), sizes[cell]) for cell in held]

    def _let_go_of_logits(self, held: str) -> None:
        """What the loop held so long, unless the backward pass has yet to read it."""
        if self.policy.logits_held == held:
            for cell in self.returned:
                if not self.savers.get(cell):
                    self._free(cell)

    def _returns(self) -> None:
        """The model has given its output."""
        self.gathering.loss()
        self._free_all(self.of_last_step)
        self.of_last_step = []

    # forward

    def _forward(self, nodes: list[Node]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._forward, node.body), node.times)
            elif isinstance(node, Group):
                self._through(node)
            else:
                phase = "loss" if node.module.region == Region.LOSS else "forward"
                self.ledger.at(phase, node.module, node.number)
                if self.ledger.phase == "loss":
                    self._returns()
                self._compute(node, self._stays)

    def _stays(self, cell: Cell) -> bool:
        """Whether it outlives the ops that read it."""
        return cell in self.schedule.savers or (cell in self.returned and self.policy.logits_held != "no")

    def _through(self, group: Group) -> None:
        if group.module.region != Region.BLOCK:
            self._forward(group.body)
            return
        self.ledger.at(self.ledger.phase, group.module, group.first)
        self.ledger.run = group.first
        self.ahead.free()
        gathered = self.gathering.forward(self.policy.groups.block(group.module))
        self.copies.are_saved = not group.recomputed
        self._forward(group.body)
        self.copies.are_saved = True
        self.ledger.module = group.module
        if self._is_resharded(group):
            gathered.free()
        else:
            self.gathered[group] = gathered
        self._send_away(group)
        if group is self.blocks[-1]:
            self.behind = self.gathering.forward(self.policy.groups.last)
        self.ledger.run = 0

    def _before(self, group: Group) -> Group | None:
        """The block that ran before this one."""
        place = self.blocks.index(group)
        return self.blocks[place - 1] if place else None

    def _send_away(self, group: Group) -> None:
        """What the block before saved has been copied to host RAM while this one computed."""
        before = self._before(group) if self.schedule.offloaded else None
        for cell in self.schedule.offloaded[before] if before else ():
            self._free(cell)

    def _is_resharded(self, group: Group) -> bool:
        if self.policy.reshard == "all_but_last":
            return group is not self.blocks[-1]
        return self.policy.reshard == "always"

    def _compute(self, step: Step, stays: Callable[[Cell], bool]) -> None:
        """Make what the op makes; whatever does not stay goes with the last op that reads it."""
        self.copies.make(step)
        touched = (*step.reads, *step.makes)
        scratch = [self.ledger.allocate(self.policy.live, size) for size in step.scratch]
        for cell in touched:
            self._allocate(cell, stays(cell))
        self._free_all(scratch)
        if self.policy.loss_in_parts:  # logits without their largest
            self.ledger.for_a_moment("logits", self._loss_bytes(step))
        self.ledger.for_a_moment("temporary", self._gathered_keys(step))
        self.copies.drop(step, all_of_them=False)
        for cell in touched:
            if not stays(cell) and self.schedule.last_read[cell] <= step.number:
                self._free(cell)

    def _leave_autocast(self, nodes: list[Node], recomputed: bool = False) -> None:
        """Behind the loss, copies live on where a product saved them: no biases, and none of what is recomputed."""
        for node in nodes:
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._leave_autocast, node.body, recomputed), node.times)
            elif isinstance(node, Group):
                self._leave_autocast(node.body, recomputed or node.recomputed)
            else:
                self.copies.forget(node, () if recomputed else node.saved_weights)

    # cells

    def _free_all(self, blocks: Iterable[Block | None]) -> None:
        for block in blocks:
            self.ledger.free(block)

    def _allocate(self, cell: Cell, stays: bool) -> None:
        if cell not in self.alive:
            part = self._part(cell, stays)
            self.alive[cell] = self.ledger.allocate(part, self.schedule.bytes[cell], what=cell.tensor)

    def _free(self, cell: Cell) -> None:
        if cell in self.alive and cell not in self.held and cell not in self.schedule.outliving:
            self.ledger.free(self.alive.pop(cell))

    def _part(self, cell: Cell, stays: bool) -> str:
        if cell in self.schedule.logits:
            return "logits"
        return "activations" if stays else self.policy.live

    def _loss_bytes(self, step: Step) -> int:
        """What a loss over a vocabulary makes of its logits; 0 of any other op."""
        name = step.op.traits.loss_of_logits
        return self.schedule.bytes[step.beside[name]] if name else 0

    def _gathered_keys(self, step: Step) -> int:
        """Source: PyTorch's context_parallel, which gathers them by default, torch/distributed/tensor/experimental."""
        if self.policy.keys_from == 1 or not step.op.traits.attention_kernel:
            return 0
        return self.policy.keys_from * sum(self.schedule.bytes[cell] for cell in step.reads[1:3])


def _read_by_loss(schedule: Schedule) -> dict[Cell, None]:
    """What the model returned, in order."""
    inside = {cell for step in schedule.steps() if step.module.region == Region.LOSS for cell in step.makes}
    read = (step.reads[:1] for step in schedule.steps() if step.module.region == Region.LOSS)
    return {cell: None for cells in read for cell in cells if cell not in inside}


def _uses(schedule: Schedule) -> Counter[Copy]:
    """How often each parameter is used."""
    return Counter(wanted for step in schedule.steps() for wanted in step.grads if isinstance(wanted, tuple))


def _losses(schedule: Schedule) -> list[Cell]:
    """What the loss makes and nobody reads."""
    inside = [step for step in schedule.steps() if step.module.region == Region.LOSS]
    read = {cell for step in inside for cell in step.reads}
    return [step.output for step in inside if step.op.traits.allocates and step.output not in read]


def is_leaf(step: Step) -> bool:
    """Whether a gradient ends here: the graph behind the loss holds it, and the tensor that it is of."""
    return step.op.traits.leaf and not step.grads
