"""Steps whose products are computed in narrower numbers than what enters them: autocast, and fp8.

Autocast computes matrix products in 16 bits and norms, softmax and losses in fp32; anything else in the wider of its
inputs. A product keeps a narrow copy of each factor of its own, and an fp32 op a wide copy of what was narrow. In fp8 a
linear layer keeps its input in one byte; all that read the same tensor share that copy.
Source: PyTorch's documentation, Automatic Mixed Precision, CUDA Op-Specific Behavior.
"""

from __future__ import annotations

from archcalc.analyze.steps import Cell, Step, Unrolling
from archcalc.ir import Module, Op, Param, Tensor
from archcalc.precision import Policy

PRODUCTS = frozenset({"contract", "flash", "bent_flash"})
WIDE = frozenset({"layer_norm", "rms_norm", "softmax", "cross_entropy", "squared_error", "sum", "lookup"})


class Autocasting(Unrolling):
    """fp32 weights, 16-bit products. Cells are measured in 16 bits, and widened where PyTorch widens."""

    narrow = Policy("bf16")
    wide = Policy("fp32")
    wide_kinds = WIDE

    def _step(self, op: Op, module: Module) -> Step:
        tensors = [tensor for tensor in op.inputs if not isinstance(tensor.storage, Param)]
        widest = not tensors or any(cell.widened for tensor in tensors for cell in self._read(tensor, module))
        self.policy = self.wide if op.kind in self.wide_kinds or widest else self.narrow
        step = super()._step(op, module)
        if op.kind in self.wide_kinds or (widest and op.kind not in PRODUCTS):
            for cell in step.makes:
                self._widen(cell)
        step.keeps[:] = [self._cast(cell, op, step) for cell in step.keeps]
        return step

    def _read(self, tensor: Tensor, module: Module) -> list[Cell]:
        """Constants that enter, such as tables of cosines, are in fp32 as the weights are."""
        entering = tensor.storage not in self.cells
        found = super()._read(tensor, module)
        for cell in found if entering else ():
            self._widen(cell)
        return found

    def _widen(self, cell: Cell) -> None:
        if cell.tensor.role == "act":
            cell.bytes, cell.widened = 2 * cell.bytes, True

    def _cast(self, cell: Cell, op: Op, step: Step) -> Cell:
        """The copy that is kept in the place of a tensor of another width."""
        if cell.tensor.role != "act" or cell in step.makes:
            return cell
        if op.kind in PRODUCTS and cell.widened:
            return _copied(step, cell, cell.bytes // 2, False)
        if op.kind in self.wide_kinds and not cell.widened:
            return _copied(step, cell, cell.bytes * 2, True)
        return cell


class Fp8(Unrolling):
    """Linear layers keep what they read in one byte an element."""

    def _step(self, op: Op, module: Module) -> Step:
        step = super()._step(op, module)
        if op.kind == "contract" and step.weights:
            step.keeps[:] = [self._copy_of(cell, step) for cell in step.keeps]
        return step

    def _copy_of(self, cell: Cell, step: Step) -> Cell:
        if cell.tensor.role != "act":
            return cell
        if cell.narrow is None:
            cell.narrow = _copied(step, cell, cell.bytes // 2, False)
        return cell.narrow


def _copied(step: Step, cell: Cell, size: int, wide: bool) -> Cell:
    tensor = Tensor(cell.tensor.axes, cell.tensor.role)
    made = Cell(tensor, size, step.number, widened=wide, is_logits=cell.is_logits)
    step.makes.append(made)
    return made
