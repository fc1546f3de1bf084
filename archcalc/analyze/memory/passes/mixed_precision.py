"""Passes for matrix products in a narrower dtype than their inputs: autocast, and fp8.

Autocast computes matrix products in 16 bits and norms, softmax and losses in fp32; anything else in the wider of its
inputs. A product saves a narrow copy of each factor of its own, and an fp32 op a wide copy of what was narrow. In fp8 a
linear layer saves its input in one byte; all that read the same tensor share that copy.
Source: PyTorch's documentation, Automatic Mixed Precision, CUDA Op-Specific Behavior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from archcalc.analyze.memory.schedule import Cell, Pass, Schedule, Step
from archcalc.core.ir import Param
from archcalc.core.ops import KINDS
from archcalc.core.precision import Policy


def autocast(but: frozenset[str] = frozenset()) -> Pass:
    """fp32 weights, 16-bit products. Cells start with 16-bit sizes, and become fp32 where autocast uses fp32.

    `but` are kinds that a device computes in 16 bits although CUDA does not."""
    in_fp32 = frozenset(name for name, kind in KINDS.items() if kind.autocast == "fp32") - but

    def change(schedule: Schedule) -> None:
        casting = _Autocast(schedule, in_fp32)
        for step in schedule.steps():
            casting.cast(step)

    return change


@dataclass
class _Autocast:
    """Follows the steps in order, and knows which cells are fp32."""

    schedule: Schedule
    in_fp32: frozenset[str]  # kinds
    known: set[Cell] = field(default_factory=set)
    wide: set[Cell] = field(default_factory=set)

    def cast(self, step: Step) -> None:
        """Constants that enter are fp32, as weights are."""
        self._widen(cell for cell in step.reads if cell not in self.known)
        self.known.update(step.reads, step.makes)
        computes_wide = step.op.kind in self.in_fp32
        from_wide = not step.reads or any(cell in self.wide for cell in step.reads)
        if computes_wide:
            step.saves[:] = step.saved_in(Policy("fp32"))
            self._drop_upcasts(step)
        if computes_wide or (from_wide and step.op.traits.autocast != "narrow"):
            self._widen(step.makes)
        step.saves[:] = [self._as_computed(cell, step) for cell in step.saves]
        self.known.update(step.makes)

    def _drop_upcasts(self, step: Step) -> None:
        """An fp32 copy beside the output is not made where the output itself is fp32."""
        for cell in step.makes:
            if cell.tensor.role == "upcast":
                self.schedule.bytes[cell] = 0

    def _widen(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            if cell.tensor.role == "act":
                self.schedule.bytes[cell] *= 2
                self.wide.add(cell)

    def _as_computed(self, cell: Cell, step: Step) -> Cell:
        """The cast copy that is saved instead of a tensor of another dtype."""
        if cell.tensor.role != "act" or cell in step.makes:
            return cell
        size = self.schedule.bytes[cell]
        if step.op.traits.autocast == "narrow" and cell in self.wide:
            return self.schedule.add_copy(step, cell, size // 2)
        if step.op.kind in self.in_fp32 and cell not in self.wide:
            copied = self.schedule.add_copy(step, cell, size * 2)
            self.wide.add(copied)
            return copied
        return cell


def fp8(is_quantised: Callable[[Param], bool]) -> Pass:
    """Linear layers save what they read in one byte an element, but for those whose weights are quantised: such a
    weight is dequantised to 16 bits, and so is its product."""

    def change(schedule: Schedule) -> None:
        copies: dict[Cell, Cell] = {}
        for step in schedule.steps():
            is_linear = step.op.traits.matrix and bool(step.weights)
            if is_linear and not any(map(is_quantised, step.weights)):
                step.saves[:] = [_in_one_byte(schedule, cell, step, copies) for cell in step.saves]

    return change


def _in_one_byte(schedule: Schedule, cell: Cell, step: Step, copies: dict[Cell, Cell]) -> Cell:
    if cell.tensor.role != "act":
        return cell
    if cell not in copies:
        copies[cell] = schedule.add_copy(step, cell, schedule.bytes[cell] // 2)
    return copies[cell]
