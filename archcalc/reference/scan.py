"""What layers keep for the next token, and recurrent states as fused kernels compute them: only inputs are saved for
backward, the rest is recomputed."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from archcalc.reference.selective import as_one_op


class Cache:
    """Tensors by the run of a block and a name, and of how many tokens they are.

    `run` counts the blocks of one forward pass: a block that is run several times keeps something for each run.
    """

    def __init__(self, *, forgets: bool = True) -> None:
        self.forgets = forgets  # what a memory of segments no longer holds
        self.length = 0
        self.run = 0
        self._tensors: dict[tuple[int, str], Tensor] = {}

    def get(self, name: str) -> Tensor | None:
        """What an earlier call kept under this name in this run, or nothing."""
        return self._tensors.get((self.run, name))

    def keep(self, name: str, tensor: Tensor) -> None:
        self._tensors[self.run, name] = tensor

    def tensors(self) -> list[Tensor]:
        """All that is kept, of every run."""
        return list(self._tensors.values())


Found = tuple[Tensor, Tensor]  # what every position gets, and the state after the last one
Several = TypeVar("Several", bound=tuple[Tensor, ...])


def as_kernel(compute: Callable[..., Several], *given: Tensor | None) -> Several:
    """Saves the inputs, and recomputes the intermediates in the backward pass."""
    with as_one_op():
        if not torch.is_grad_enabled() or not any(one is not None and one.requires_grad for one in given):
            return compute(*given)
        found: Several = checkpoint(compute, *given, use_reentrant=False, preserve_rng_state=False)
    return found


class Scan(torch.autograd.Function):
    """state = decay ∗ state + added, from position to position. Decays and states are kept."""

    @staticmethod
    def forward(ctx: Any, decay: Tensor, added: Tensor, start: Tensor | None) -> Tensor:
        if start is not None:
            added = torch.cat((added[:, :1] + decay[:, :1] * start[:, None], added[:, 1:]), dim=1)
        states = _by_doubling(decay, added)
        ctx.save_for_backward(decay, states)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """What a position hands to the next comes back from it, decayed as it was."""
        (decay, states), (gradient,) = ctx.saved_tensors, gradients
        later = torch.cat((torch.zeros_like(decay[:, :1]), decay.flip(1)[:, :-1]), dim=1)
        to_added = _by_doubling(later, gradient.flip(1)).flip(1)
        before = torch.cat((torch.zeros_like(states[:, :1]), states[:, :-1]), dim=1)
        return to_added * before, to_added, None


def _by_doubling(decay: Tensor, added: Tensor) -> Tensor:
    """Every position takes in what stands 1, 2, 4 … before it, so that a sequence needs as many steps as doublings."""
    shift = 1
    while shift < added.shape[1]:
        further = added[:, shift:] + decay[:, shift:] * added[:, :-shift]
        added = torch.cat((added[:, :shift], further), dim=1)
        decay = torch.cat((decay[:, :shift], decay[:, shift:] * decay[:, :-shift]), dim=1)
        shift *= 2
    return added


def scan(decay: Tensor, added: Tensor, start: Tensor | None) -> Tensor:
    """The state after every position; `start` is the one before the first, which nothing is learned from."""
    states: Tensor = Scan.apply(decay, added, start)
    return states


def known(cache: Cache | None, name: str) -> Tensor | None:
    """What earlier calls kept under this name."""
    if cache is None:
        return None
    return cache.get(name)


def by_length(
    x: Tensor, start: Tensor | None, in_chunks: Callable[..., Found], one_step: Callable[..., Found]
) -> Callable[..., Found]:
    """How a state is computed: along a sequence in chunks, for a single token behind others in one step."""
    if start is None or x.shape[1] > 1:
        return in_chunks
    return one_step


def keep(cache: Cache | None, name: str, state: Tensor) -> None:
    """For the next token, in a storage of its own."""
    if cache is not None:
        cache.keep(name, state.clone())


def behind_state(cache: Cache | None, path: str, compute: Callable[..., Found], *given: Tensor) -> Tensor:
    """What a kernel gives every position behind the state that was kept; the one after the last is kept instead."""
    found, last = as_kernel(compute, *given, known(cache, f"{path}.state"))
    keep(cache, f"{path}.state", last)
    return found


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
