"""Passes for products that are computed in narrower numbers than what enters them: autocast, and fp8.

Autocast computes matrix products in 16 bits and norms, softmax and losses in fp32; anything else in the wider of its
inputs. A product saves a narrow copy of each factor of its own, and an fp32 op a wide copy of what was narrow. In fp8 a
linear layer saves its input in one byte; all that read the same tensor share that copy.
Source: PyTorch's documentation, Automatic Mixed Precision, CUDA Op-Specific Behavior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from archcalc.analyze.memory.schedule import Cell, Node, Pass, Step, steps
from archcalc.core.ir import Param, Tensor
from archcalc.core.ops import KINDS
from archcalc.core.precision import Policy


def autocast(but: frozenset[str] = frozenset()) -> Pass:
    """fp32 weights, 16-bit products. Cells come measured in 16 bits, and are widened where PyTorch widens.

    `but` are kinds that a device computes in 16 bits although CUDA does not."""
    wide = frozenset(name for name, kind in KINDS.items() if kind.autocast == "fp32") - but

    def change(nodes: list[Node]) -> None:
        known: set[Cell] = set()
        for step in steps(nodes):
            _widen(cell for cell in step.reads if cell not in known)  # constants that enter are fp32, as weights are
            known.update(step.reads, step.makes)
            _cast(step, wide)
            known.update(step.makes)

    return change


def _cast(step: Step, wide: frozenset[str]) -> None:
    in_fp32 = step.op.kind in wide
    from_wide = not step.reads or any(cell.widened for cell in step.reads)
    if in_fp32:
        step.keeps[:] = step.saved(Policy("fp32"))
        _drop_upcasts(step)
    if in_fp32 or (from_wide and step.op.traits.autocast != "narrow"):
        _widen(step.makes)
    step.keeps[:] = [_as_computed(cell, step, wide) for cell in step.keeps]


def _drop_upcasts(step: Step) -> None:
    """An fp32 copy beside the output is not made where the output itself is fp32."""
    for cell in step.makes:
        if cell.tensor.role == "upcast":
            cell.bytes = 0


def _widen(cells: Iterable[Cell]) -> None:
    for cell in cells:
        if cell.tensor.role == "act":
            cell.bytes, cell.widened = 2 * cell.bytes, True


def _as_computed(cell: Cell, step: Step, wide: frozenset[str]) -> Cell:
    """The copy that is saved in the place of a tensor of another width."""
    if cell.tensor.role != "act" or cell in step.makes:
        return cell
    if step.op.traits.autocast == "narrow" and cell.widened:
        return _copied(step, cell, cell.bytes // 2, False)
    if step.op.kind in wide and not cell.widened:
        return _copied(step, cell, cell.bytes * 2, True)
    return cell


def fp8(is_quantised: Callable[[Param], bool]) -> Pass:
    """Linear layers save what they read in one byte an element, but for those whose weights are quantised: such a
    weight is dequantised to 16 bits, and so is its product."""

    def change(nodes: list[Node]) -> None:
        copies: dict[Cell, Cell] = {}
        for step in steps(nodes):
            is_linear = step.op.traits.matrix and bool(step.weights)
            if is_linear and not any(map(is_quantised, step.weights)):
                step.keeps[:] = [_in_one_byte(cell, step, copies) for cell in step.keeps]

    return change


def _in_one_byte(cell: Cell, step: Step, copies: dict[Cell, Cell]) -> Cell:
    if cell.tensor.role != "act":
        return cell
    if cell not in copies:
        copies[cell] = _copied(step, cell, cell.bytes // 2, False)
    return copies[cell]


def _copied(step: Step, cell: Cell, size: int, wide: bool) -> Cell:
    tensor = Tensor(cell.tensor.axes, cell.tensor.role)
    made = Cell(tensor, size, step.number, widened=wide)
    step.makes.append(made)
    return made
