"""Sequences in chunks, whose positions are computed at once by matrix products."""

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor


def chunked(x: Tensor, chunk: int) -> Tensor:
    """(batch, seq, heads, width) as (batch, heads, chunks, chunk, width), with zeros at the end."""
    x = F.pad(x, (0, 0, 0, 0, 0, -x.shape[1] % chunk))
    return x.unflatten(1, (-1, chunk)).permute(0, 3, 1, 2, 4)


def joined(x: Tensor, length: int) -> Tensor:
    """Chunks as one sequence again, (batch, seq, heads, width), in a storage of its own, without the zeros."""
    return x.flatten(2, 3)[:, :, :length].transpose(1, 2).clone(memory_format=torch.contiguous_format)


def passed_within(decay: Tensor, chunk: int) -> Tensor:
    """Logarithms of decays, (batch, seq, heads), summed up within each chunk: (batch, heads, chunks, chunk)."""
    return chunked(decay[..., None], chunk)[..., 0].cumsum(-1)


def decays_between(passed: Tensor) -> Tensor:
    """The decay from each position to each later one; zero for earlier ones."""
    between = passed[..., :, None] - passed[..., None, :]
    later = torch.ones_like(between, dtype=torch.bool).triu(1)
    return torch.exp(between.masked_fill(later, -torch.inf))
