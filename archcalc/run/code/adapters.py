"""Low-rank adapters as peft computes them: beside a whole linear layer, in fp32 next to 16-bit weights.

Source: peft, Linear.forward in tuners/lora/layer.py; `autocast_adapter_dtype` of get_peft_model makes adapters fp32.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.run.code.writing import WIDE, Lines
from archcalc.run.lora import is_adapter


def lower_adapters(root: Module, *, narrow: bool) -> None:
    """Of every layer that has one, before biases are joined with products."""
    for module, _ in list(walk(root)):
        for lora in [child for child in module.children if any(map(is_adapter, _used(child)))]:
            _lower(module, lora, narrow=narrow)


def _used(module: Module) -> list[Param]:
    return [tensor for op in module.ops for tensor in op.inputs if isinstance(tensor, Param)]


def _lower(module: Module, lora: Module, *, narrow: bool) -> None:
    """The product and its bias, then the adapter on a copy of the input, their sum, and that cast back."""
    place = module.body.index(lora)
    product, joined, *following = (item for item in module.body[place - 1 :] if isinstance(item, Op))
    bias = next((op for op in following[:1] if _is_bias(op, joined)), None)
    whole, output = product.output, (bias or joined).output
    lines = [product]
    if bias:
        whole = Tensor(output.axes, output.role)
        lines.append(replace(bias, inputs=(product.output, *bias.inputs[1:]), output=whole, name="", note=""))
    wide, change = _widened(lora, product.inputs[0], narrow=narrow)
    adding = Lines(narrow=narrow)
    adding.cast(adding.do("add", whole, change, role=WIDE if narrow else whole.role), output.role)
    adding.hold(product.inputs[0], *wide)
    end = place + 3 if bias else place + 2
    module.body[place - 1 : end] = [*lines, lora, *adding.returned(replace(bias or joined, output=output))]


def _is_bias(op: Op, joined: Op) -> bool:
    return op.traits.joins_product and op.inputs[0] is joined.output and isinstance(op.inputs[-1], Param)


def _widened(lora: Module, x: Tensor, *, narrow: bool) -> tuple[list[Tensor], Tensor]:
    """The adapter's ops in fp32: what it reads, if that is a copy, and what it makes."""
    first, *others = lora.ops
    lines = Lines(narrow=narrow)
    role = WIDE if narrow else x.role
    read = lines.cast(x, role)
    made = lines.do(first.kind, read, *first.inputs[1:], to=first.output.axes, role=role, over=first.over)
    for op in others:
        made = lines.do(op.kind, made, *op.inputs[1:], to=op.output.axes, role=role, over=op.over)
    lora.body[:] = lines.ops
    return [read] if narrow else [], made
