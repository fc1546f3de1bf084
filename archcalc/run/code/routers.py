"""Routers as transformers writes them: probabilities in fp32, those of the chosen experts perhaps divided by their sum.

The division is in place, for which autograd copies what was there before. Here the copy is what was chosen, and the
quotient a tensor of its own: as many bytes at every moment.
Source: transformers, MixtralTopKRouter.forward; Qwen3MoeTopKRouter.forward and OlmoeTopKRouter.forward.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.ir import Module, Op, Region, Tensor, walk
from archcalc.core.roles import Role
from archcalc.run.code.refusal import refused
from archcalc.run.code.writing import WIDE, Lines

STEPS = ["softmax", "choose"]  # behind the product with the router's matrix


@dataclass(frozen=True)
class Routing:
    """What is done with the probabilities of chosen experts."""

    is_divided: bool  # by their sum
    is_cast: bool  # back to the activations' number format
    reads_fp32: bool = False  # copies of tokens and of the router's matrix


@dataclass(frozen=True)
class Routed:
    """What a router gives out: scores, and the weights and numbers of chosen experts."""

    scores: Tensor
    weights: Tensor
    indices: Tensor


def keep_bare(root: Module) -> None:
    """A router's matrix is a parameter of its own and no nn.Linear, which peft adapts in another way."""
    for module, _ in walk(root):
        if module.region == Region.MIXTURE:
            _router_of(module).takes_adapters = False


def lower_router(mixture: Module, routing: Routing, *, narrow: bool) -> Routed:
    router = _router_of(mixture)
    if [op.kind for op in router.ops[-len(STEPS) :]] != STEPS:
        refused("a router that does more than choose the most probable experts")
    *products, softmax, choose = router.ops
    (given,), lines = softmax.inputs, Lines(narrow=narrow)
    scores = _multiplied(lines, products) if routing.reads_fp32 and narrow else given
    shares = lines.do(softmax.kind, lines.cast(scores, WIDE))
    weights = Tensor(choose.output.axes, shares.role)
    lines.ops.append(replace(choose, inputs=(shares,), output=weights))
    if routing.is_divided:
        weights = _divided(lines, weights)
    if routing.is_cast:
        weights = lines.cast(weights, given.role)
    router.body[:] = [*(products if scores is given else ()), *lines.ops]
    return Routed(scores, weights, choose.beside["indices"])


def _multiplied(lines: Lines, products: list[Op]) -> Tensor:
    """Scores of fp32 copies. Source: transformers, DeepseekV3TopkRouter.forward."""
    read = {tensor: lines.do("cast", tensor, role=WIDE) for tensor in products[0].inputs}
    for op in products:
        inputs = [read.get(tensor, tensor) for tensor in op.inputs]
        read[op.output] = lines.do(op.kind, *inputs, to=op.output.axes, role=WIDE, over=op.over)
    return read[products[-1].output]


def _router_of(mixture: Module) -> Module:
    found = [child for child in mixture.children if _routes(child)]
    return found[0] if found else refused("experts without a router")


def _routes(module: Module) -> bool:
    return any(param.weight_role is Role.ROUTER for param in module.params.values())


def _divided(lines: Lines, weights: Tensor) -> Tensor:
    *rows, top = weights.axes
    return lines.do("divide", weights, lines.do("sum", weights, to=tuple(rows), over=top))
