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
from archcalc.run import lora
from archcalc.run.number_formats import FLOATS, NARROW, WIDE, NumberFormats
from archcalc.run.precision_recipes import Recipe
from archcalc.storage.weight_storage import WeightStorage

if TYPE_CHECKING:
    from collections.abc import Iterator

SOFTMAX = {"softmax_fp32": "softmax"}  # what is left of an op that widens, where its result is not narrowed again


@dataclass(frozen=True)
class Autocast:
    """A change to a traced model, once all ops are those that run. Its weights are kept by the recipe, those that are
    not trained in the format."""

    recipe: Recipe
    format: WeightStorage
    adapted: bool = False
    frozen: tuple[str, ...] = ()

    def __call__(self, root: Module) -> None:
        trained = lora.is_adapter if self.adapted else lora.all_but(root, self.frozen)
        formats = NumberFormats(root, self.recipe, self.format, trained)
        written = _Rewriting(formats)
        for op in filter(formats.is_idle, ops_in(root)):
            written.found[op.output] = written.tensor(op.inputs[0])
        for module, _ in walk(root):
            lines = ([item] if isinstance(item, Module) else written.lines(item) for item in module.body)
            module.body[:] = [new for line in lines for new in line]
        for module, _ in walk(root):
            module.carries[:] = [(written.tensor(into), written.tensor(out)) for into, out in module.carries]


@dataclass
class _Rewriting:
    """Every tensor in the role of its number format."""

    formats: NumberFormats
    found: dict[Tensor, Tensor] = field(default_factory=dict)

    def lines(self, op: Op) -> Iterator[Op]:
        """Behind the casts of what it reads, and before that of its result; nothing for an idle one."""
        if self.formats.is_idle(op):
            return
        output, beside = self.tensor(op.output), {name: self.tensor(one) for name, one in op.beside.items()}
        for name, one in op.beside.items():
            if one.role == "upcast" and self.formats.is_wide(op.output):
                beside[name] = Tensor(one.axes, "none")  # no fp32 copy is made where what is read is fp32
        inputs, wanted = {one: self.tensor(one) for one in op.inputs}, self.formats.computed_in(op)
        for one in inputs:
            if wanted and one.role in FLOATS and self.formats.is_wide(one) != (wanted == WIDE):
                copied = Tensor(one.axes, wanted)
                yield Op("cast", (inputs[one],), copied)
                inputs[one] = copied
        kind = SOFTMAX.get(op.kind, op.kind) if output.role == WIDE else op.kind
        made = replace(op, kind=kind, inputs=tuple(inputs[one] for one in op.inputs), output=output, beside=beside)
        if self.formats.is_quantised(op) and self.formats.is_wide(op.inputs[0]):
            narrow = Tensor(output.axes, NARROW)
            yield replace(made, output=narrow, name="", note="", title="")
            made = Op("cast", (narrow,), output, name=op.name, note=op.note, title=op.title)
        yield made

    def tensor(self, tensor: Tensor) -> Tensor:
        if tensor in self.found:
            return self.found[tensor]
        found = tensor
        if not isinstance(tensor.storage, Param) and tensor.role in FLOATS:
            role = WIDE if self.formats.is_wide(tensor) else NARROW
            of = self.tensor(tensor.of) if tensor.of else None
            if of is not tensor.of or role != tensor.role:
                found = replace(tensor, role=role, of=of)
        self.found[tensor] = found
        return found
