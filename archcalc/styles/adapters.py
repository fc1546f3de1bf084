"""Low-rank adapters as libraries compute them: what stands in the place of a product with an adapted matrix."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Module, Op, Tensor
from archcalc.core.style import Adapted
from archcalc.styles.steps import WIDE

Items = list[Op | Module]


def plain(module: Module, op: Op, adapted: list[Adapted]) -> Items:
    """x·W + x·A·B, scaled, in the number format of the weights."""
    return _beside(module, op, adapted, op.inputs[0], [])


def peft_in_fp32(module: Module, op: Op, adapted: list[Adapted]) -> Items:
    """The same in fp32, on an fp32 copy of the input, cast back. Source: peft, `autocast_adapter_dtype` of
    get_peft_model."""
    if not module.style.narrow or len(adapted) > 1:
        return plain(module, op, adapted)
    (one,) = adapted
    x, made = op.inputs[0], Tensor(op.output.axes, op.output.role)
    change = _change(one, op, one.lora.record("cast", x, role=WIDE))
    added = Tensor(made.axes, WIDE)
    back = Op("cast_back", (added, made.detached()), op.output)
    return _instead(op, made, [one.lora, Op("add", (made, change), added)], back)


def dropped(module: Module, op: Op, adapted: list[Adapted]) -> Items:
    """Dropout in front of A. Source: litgpt, LoRALinear.forward and LoRAQKVLinear.forward."""
    x = op.inputs[0]
    found = Tensor(x.axes, x.role)
    return _beside(module, op, adapted, found, [Op("dropout", (x,), found, beside={"mask": Tensor(x.axes, "mask")})])


def _beside(module: Module, op: Op, adapted: list[Adapted], x: Tensor, before: list[Op]) -> Items:
    """Adapters of several matrices with one product are one."""
    made = Tensor(op.output.axes, op.output.role)
    if sum(len(one.axes) > 1 for one in op.inputs[1:]) > 1:
        together = Module("together", style=module.style)
        change = _of_several(together, op, x, adapted)
        items: Items = [*before, *together.body]
    else:
        (one,) = adapted
        change = _change(one, op, x)
        one.lora.body[:0] = before
        items = [one.lora]
    return _instead(op, made, items, Op("add", (made, change), op.output))


def _of_several(m: Module, op: Op, x: Tensor, adapted: list[Adapted]) -> Tensor:
    """One product with all A, and one with each B; results that are not all of the output are put into zeros."""
    ranks = Dim.of("lora_ranks", sum(int(one.down.dims[0].size) for one in adapted))
    hidden = m.record("affine", x, *(one.down for one in adapted), to=(*x.axes[:-1], (ranks,)), over=op.over)
    outs = [one.weight.axes[0] for one in adapted]
    joint = (*x.axes[:-1], (Dim.of("adapted", sum(int(Tensor((out,)).size) for out in outs)),))
    if len({Tensor((out,)).shape for out in outs}) == 1:  # a convolution in as many groups
        change = m.record("affine", hidden, *(one.up for one in adapted), to=joint, over=(adapted[0].up.dims[-1],))
    else:
        pairs = zip(adapted, outs, strict=True)
        parts = [m.record("affine", hidden, one.up, to=(*x.axes[:-1], out), over=one.up.axes[-1]) for one, out in pairs]
        change = m.record("concat", *parts, to=joint)
    if len(adapted) < sum(len(one.axes) > 1 for one in op.inputs[1:]):
        change = m.record("placed", m.record("zeros", to=op.output.axes), change)
    return m.record("scale", change, to=op.output.axes)


def _change(one: Adapted, op: Op, x: Tensor) -> Tensor:
    """x·A·B, scaled."""
    rank = one.down.dims[0]
    hidden = one.lora.record("contract", x, one.down, to=(*x.axes[:-1], (rank,)), over=op.over)
    made = one.lora.record("contract", hidden, one.up, to=op.output.axes, over=(rank,))
    return one.lora.record("scale", made)


def _instead(op: Op, made: Tensor, items: Items, last: Op) -> Items:
    """The product itself, whose output is a step on the way now; what gives out what it gave has its name."""
    product = replace(op, output=made, name="", note="", title="")
    return [product, *items, replace(last, name=op.name, note=op.note, title=op.title)]
