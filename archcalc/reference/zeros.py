"""Zeros around a map."""

import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor


def padded(x: Tensor, padding: list[list[int]]) -> Tensor:
    """F.pad counts sides from the last one."""
    return F.pad(x, [zeros for ends in reversed(padding) for zeros in ends])


def same_zeros(size: int, kernel: int, stride: int, dilation: int) -> list[int]:
    """Keras' `same`: the fewest zeros with which a window starts at every `stride`-th place, an odd one behind."""
    reach, zeros = dilation * (kernel - 1) + 1, 0
    while len(range(0, size + zeros - reach + 1, stride)) < len(range(0, size, stride)):
        zeros += 1
    return [zeros // 2, zeros - zeros // 2]
