"""What layers give out in a forward pass, in numbers: the activations that courses count, layer by layer.

    outputs(root, plan.size)["conv_1"]          224 · 224 · 64 for one image

Activation functions work in place and a bias is part of its product, so a convolution with ReLU gives out one map.
What enters the model counts where it enters. None of it is freed here; `archcalc.simulate.simulation` does that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from archcalc.core.ir import Module, Param, Region, Tensor
from archcalc.core.kernels import as_op
from archcalc.core.op_pictures import PICTURES

INPUT = "input"  # the path of what enters the model itself, as an image does


def outputs(root: Module, size: Callable[[Tensor], int]) -> Counter[str]:
    """By the path of the layer, each with all that it holds; the model's own path is empty."""
    found, waiting = Counter[str](), [(root, int(root.runs))]
    while waiting:
        module, runs = waiting.pop()
        for item in module.body:
            if isinstance(item, Module) and item.region != Region.KERNEL:
                times = 1 if item.is_first_only else runs
                waiting.append((item, times * int(item.runs) if item.region != Region.LOSS else 0))
                continue
            op = as_op(item) if isinstance(item, Module) else item
            is_kept = op.traits.allocates or op.traits.enters
            is_bias = op.traits.joins_product and any(isinstance(tensor, Param) for tensor in op.inputs)
            if is_kept and op.output.role == "act" and not is_bias and PICTURES[op.kind].part != "activation":
                path = INPUT if op.traits.enters and not module.path else module.path
                add_to_all(found, path, runs * size(op.output))
    return found


def add_to_all(found: Counter[str], path: str, number: int) -> None:
    """To a layer, and to all that hold it."""
    while path:
        found[path] += number
        path = path.rpartition(".")[0]
    found[""] += number
