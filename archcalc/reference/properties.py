"""Checks on values: causality, decode equal to a full pass, and invariance to padding."""

from collections.abc import Callable

import torch
from torch import Tensor

Model = Callable[..., Tensor]


def is_causal(model: Model, given: list[Tensor], output: Tensor) -> bool:
    """Another last token changes no output before it."""
    other = given[-1].clone()
    other[:, -1] = (other[:, -1] + 1) % (int(other.max()) + 1)
    return bool(torch.allclose(model(*given[:-1], other)[:, :-1], output[:, :-1]))


def decodes_alike(last: Tensor, output: Tensor) -> bool:
    """The last token behind what was kept of those before it gives what it gives behind them all."""
    return bool(torch.allclose(last[:, 0], output[:, -1]))


def ignores_padding(model: Model, given: list[Tensor], output: Tensor) -> bool:
    """Two more tokens behind the first sequence, marked as none."""
    padded = torch.cat((given[0], given[0][:, :2]), dim=1)
    hidden = torch.zeros(padded.shape[0], 1, 1, padded.shape[1], dtype=torch.bool)
    hidden[..., given[0].shape[1] :] = True
    found = model(padded, *given[1:], padding=hidden)
    return bool(torch.allclose(found[:, : output.shape[1]] if found.shape != output.shape else found, output))
