"""FLOPs of the gradients of a grouped convolution.

FlopCounterMode's formula counts the gradient of the weights as if every output channel met every input channel:
`groups` times too much. Each group is a convolution of its own, so the formula is asked for one group.
"""

from typing import Any

import torch
from torch import Tensor

GROUPS = 9  # the place of that number among the arguments of aten::convolution_backward


def grouped_backward(count: Any, given: Any, out: Any) -> int:
    """PyTorch's count for one group, times the number of groups."""
    groups = given[GROUPS]
    if groups == 1:
        return int(count(*given, out_val=out))
    gradient, x, weight, *others = given
    one = (_share(gradient, 1, groups), _share(x, 1, groups), _share(weight, 0, groups), *others)
    made = [_share(each, axis, groups) for each, axis in zip(out, (1, 0, 0), strict=True)]
    return int(count(*one, out_val=made)) * groups


def _share(tensor: Tensor | None, axis: int, groups: int) -> Tensor | None:
    """The shape of one group's part."""
    if tensor is None:
        return None
    sizes = list(tensor.shape)
    sizes[axis] //= groups
    return torch.empty(sizes, device="meta")
