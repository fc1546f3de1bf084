"""torch.compile on blocks: elementwise ops are fused, and recomputed in the backward pass rather than saved.

A tensor exists only where a kernel cannot take another in: what matrix products and attention read and write, what
enters a block and what leaves it, statistics of norms and random masks. What the backward pass needs and does not find
among them, it computes from them. PyTorch's min-cut partitioner keeps the same of a Transformer's block: it is tested.
"""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.ir import Tensor
from archcalc.core.precision import BYTES, Policy
from archcalc.simulate.nodes import Cell, Group, Step
from archcalc.simulate.schedule import Schedule

WHOLE = frozenset({"upcast", "normalised"})  # what a norm computed step by step makes beside its output


def compile_blocks(schedule: Schedule) -> Schedule:
    """Free fused results, and save the tensors they are recomputed from."""
    readers: dict[Cell, set[Step]] = {}
    for step in schedule.steps():
        for cell in step.reads:
            readers.setdefault(cell, set()).add(step)
    for group in schedule.blocks:
        inside = schedule.steps(group)
        leaving = {cell for step in inside for cell in step.makes if not readers.get(cell, set()) <= set(inside)}
        _Fusing(schedule, inside, leaving).apply(group)
    return schedule


def compile_loss(schedule: Schedule, policy: Policy) -> Schedule:
    """Logits are saved with two numbers per row, and no other tensor of their size is made."""
    for step in schedule.steps():
        if step.op.traits.loss_of_logits:
            logits, *targets = step.reads
            made, tensor = step.aux_outputs[step.op.traits.loss_of_logits], step.op.inputs[0]
            vocabulary, width = int(tensor.dims[-1].size), policy.bytes_of(tensor.role)
            schedule.bytes[made] = 2 * BYTES["fp32"] * (schedule.bytes[logits] // width // vocabulary)
            step.saves[:] = [logits, *targets, made]
    return schedule


class _Fusing:
    """One run of a block."""

    def __init__(self, schedule: Schedule, inside: list[Step], leaving: set[Cell]) -> None:
        self.schedule, self.inside = schedule, inside
        self.maker = {cell: step for step in inside for cell in step.makes}
        self.exists = set(leaving)
        for step in inside:
            self.exists.update((*step.reads, *step.makes) if step.op.traits.own_kernel else ())
            self.exists.update(cell for name, cell in step.aux_outputs.items() if name not in WHOLE)

    def apply(self, group: Group) -> None:
        for step in self.inside:  # maxima and sums of softmax's rows are kept, in the place of its fp32 output
            number, upcast = step.op.traits.row_statistics, step.aux_outputs.get("upcast")
            if number and upcast and upcast in step.saves:
                tensor = Tensor(step.op.output.axes[:-1], "stat")
                rows = self.schedule.bytes[upcast] // BYTES["fp32"] // int(step.op.output.dims[-1].size)
                made = self.schedule.add_cell(step, tensor, number * BYTES["fp32"] * rows)
                step.saves.append(made)
                self.exists.add(made)
                self.maker[made] = step
        for step in self.inside:
            step.saves[:] = dict.fromkeys(found for cell in step.saves for found in self._sources(cell))
        needed = self._needed(group)
        group.results = {cell: place for cell, place in group.results.items() if cell in needed}
        self.schedule.bytes.update(dict.fromkeys(self.maker.keys() - self.exists, 0))

    def _sources(self, cell: Cell) -> Iterator[Cell]:
        """The tensors from which it can be recomputed, or the tensor itself."""
        if cell in self.exists or cell not in self.maker:
            yield cell
            return
        for read in self.maker[cell].reads:
            yield from self._sources(read)

    def _needed(self, group: Group) -> set[Cell]:
        """What is read on the way to all that the backward pass keeps: a result that nobody reads is not kept."""
        needed: set[Cell] = set()
        waiting = [cell for step in self.inside for cell in step.saves]
        while waiting:
            cell = waiting.pop()
            if cell in needed:
                continue
            needed.add(cell)
            maker = self.maker.get(cell)
            if maker and maker.op not in group.done:
                waiting.extend(maker.reads)
        return needed
