"""torch.autocast as a change to a traced model: what every op computes in, and what it casts for that.

Matrix products are computed in 16 bits, norms, softmax and losses in fp32, all else in the widest of its inputs. An op
casts what it reads in another format for itself alone. Roles say formats then: `act` is 16 bits, `stat` fp32. Products
with a quantised matrix give out what they were given (bitsandbytes, Linear4bit.forward).
Source: PyTorch's documentation, Automatic Mixed Precision, CUDA Op-Specific Behavior.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.tree import ops_in
from archcalc.run.number_formats import NARROW, WIDE, NumberFormats, Weights, is_float

if TYPE_CHECKING:
    from collections.abc import Iterator

SOFTMAX = {"softmax_fp32": "softmax"}  # what is left of an op that widens, where its result is not narrowed again


@dataclass(frozen=True)
class Autocast:
    """A change to a traced model, once all ops are those that run."""

    weights: Weights

    def __call__(self, root: Module) -> None:
        formats = NumberFormats(root, self.weights)
        written = _Rewriting(formats)
        for op in filter(formats.is_idle, ops_in(root)):
            written.found[op.output] = written.tensor(op.inputs[0])
        for module, _ in walk(root):
            module.body[:] = [new for item in module.body for new in written.item(item)]
        for module, _ in walk(root):
            module.carries[:] = [(written.tensor(into), written.tensor(out)) for into, out in module.carries]


@dataclass
class _Rewriting:
    """Every tensor in the role of its number format."""

    formats: NumberFormats
    found: dict[Tensor, Tensor] = field(default_factory=dict)

    def item(self, item: Op | Module) -> Iterator[Op | Module]:
        if isinstance(item, Module):
            yield item
        elif not self.formats.is_idle(item):
            yield from self._op(item)

    def _op(self, op: Op) -> Iterator[Op]:
        output, beside = self.tensor(op.output), {name: self._beside(op, one) for name, one in op.beside.items()}
        inputs = {one: self.tensor(one) for one in op.inputs}
        for one, role in self.formats.cast_by(op):
            copied = Tensor(one.axes, role)
            yield Op("cast", (inputs[one],), copied)
            inputs[one] = copied
        kind = SOFTMAX.get(op.kind, op.kind) if output.role == WIDE else op.kind
        made = replace(op, kind=kind, inputs=tuple(inputs[one] for one in op.inputs), output=output, beside=beside)
        if self.formats.widens_back(op):
            narrow = Tensor(output.axes, NARROW)
            yield replace(made, output=narrow, name="", note="", title="")
            made = Op("cast", (narrow,), output, name=op.name, note=op.note, title=op.title)
        yield made

    def _beside(self, op: Op, made: Tensor) -> Tensor:
        """An fp32 copy is not made where what is read, or what is given out, is fp32."""
        is_copy = made.role == "upcast" and self.formats.is_wide(op.output)
        return Tensor(made.axes, "none") if is_copy else self.tensor(made)

    def tensor(self, tensor: Tensor) -> Tensor:
        if tensor not in self.found:
            self.found[tensor] = self._as_it_is(tensor)
        return self.found[tensor]

    def _as_it_is(self, tensor: Tensor) -> Tensor:
        if isinstance(tensor.storage, Param) or not is_float(tensor):
            return tensor
        role = WIDE if self.formats.is_wide(tensor) else NARROW
        of = self.tensor(tensor.of) if tensor.of else None
        if of is tensor.of and role == tensor.role:
            return tensor
        return replace(tensor, role=role, of=of, base=of.storage if of else None)
