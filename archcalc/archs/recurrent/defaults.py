"""What a recurrent net takes for fields that its spec leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.spec.defaults import Default

if TYPE_CHECKING:
    from archcalc.archs.recurrent.resolve import Recurrent
    from archcalc.archs.recurrent.spec import Spec


def defaults(spec: Spec, model: Recurrent) -> Iterator[Default]:
    yield Default(("biases",), "one")  # every report names the convention of the biases
    depths = {stack.depth for stack in model.stacks}
    if len(depths) == 1:
        yield Default(("layers",), depths.pop())
    if model.attention:
        yield Default(("attention", "when"), model.attention.when, f"attention {model.attention.when} the step")
        yield Default(("attention", "bias"), False, "no biases in attention")
    if len(model.stacks) > 1:
        start, states = ("encoder", "the encoder's last states") if model.handed_over else ("zeros", "zeros")
        yield Default(("decoder", "start"), start, f"the decoder starts from {states}")
    head, bias = model.head, "with" if model.head.bias else "without"
    if head.kind == "lm":
        yield Default(("head", "kind"), "lm", f"untied head {bias} bias")
    if head.kind == "classifier":
        yield Default(("head", "bias"), head.bias, f"classifier {bias} bias")
        yield Default(("head", "pool"), "last", "the last state classified")
    yield Default(("precision",), "fp32")
