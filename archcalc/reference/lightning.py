"""Lightning attention in plain PyTorch: linear attention with a fixed decay rate per head."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS
from archcalc.reference.scan import Found, behind_state, known

SLOWEST = 8.0  # the last head forgets a share of 2⁻⁸ of what it knows


class Lightning(nn.Module):
    """An activation on queries, keys and values; a norm of all heads as one vector, and a gate."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.path = ""
        self.heads, self.chunk, self.act = layer["heads"], layer["chunk"], ACTIVATIONS[layer["act"]]
        inner = layer["heads"] * layer["head_dim"]
        self.q, self.k, self.v, self.gate = (nn.Linear(d_model, inner, bias=False) for _ in range(4))
        self.norm = nn.RMSNorm(inner)
        self.out = nn.Linear(inner, d_model, bias=False)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        q, k, v = (self.act(one(x)).unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in (self.q, self.k, self.v))
        is_step = x.shape[1] == 1 and known(cache, f"{self.path}.state") is not None
        found = behind_state(cache, self.path, one_step if is_step else partial(in_chunks, self.chunk), q, k, v)
        return self.out(self.norm(found.transpose(1, 2).flatten(2)) * torch.sigmoid(self.gate(x)))


def rates(x: Tensor) -> Tensor:
    """The decay rate of each head, (heads, 1, 1): a share of 2⁻⁸⁄ʰ, and so on to 2⁻⁸."""
    heads = x.shape[1]
    places = torch.arange(1, heads + 1, device=x.device, dtype=x.dtype)
    return (2 ** (-SLOWEST * places / heads))[:, None, None]


def one_step(q: Tensor, k: Tensor, v: Tensor, start: Tensor) -> Found:
    """The matrix of every head, (head_dim, head_dim), decayed and added to."""
    state = start * torch.exp(-rates(q)) + k.mT @ v
    return q @ state, state


def in_chunks(chunk: int, q: Tensor, k: Tensor, v: Tensor, start: Tensor | None) -> Found:
    """All are (batch, heads, seq, head_dim): whole chunks beside each other, then what is left over."""
    pieces = list(zip(*(_in_pieces(one, chunk) for one in (q, k, v)), strict=True))
    if start is None:
        start = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    states = [start]
    for _, k, v in pieces:
        aged = k * _decays(q, k.shape[3] - _places(k))
        for left in (aged.mT @ v).unbind(2):
            states.append(states[-1] * _decays(q, k.shape[3])[:, 0] + left)
    before = torch.stack(states, dim=2)[:, :, :-1].split([k.shape[2] for _, k, _ in pieces], dim=2)
    found = []
    for (q, k, v), earlier in zip(pieces, before, strict=True):
        place = _places(q)
        within = q @ k.mT * _decays(q, place - place.mT).tril() @ v
        found.append(((q * _decays(q, place)) @ earlier + within).flatten(2, 3).transpose(1, 2))
    return torch.cat(found, dim=1).transpose(1, 2), states[-1]


def _in_pieces(x: Tensor, chunk: int) -> list[Tensor]:
    """(batch, heads, chunks, chunk, width), and one shorter chunk where there is one."""
    whole = x.shape[2] // chunk * chunk
    found = []
    if whole:
        found.append(x[:, :, :whole].unflatten(2, (-1, chunk)))
    if whole < x.shape[2]:
        found.append(x[:, :, None, whole:])
    return found


def _places(x: Tensor) -> Tensor:
    """1, 2 … in a chunk, one below the other."""
    return torch.arange(1, x.shape[3] + 1, device=x.device, dtype=x.dtype)[:, None]


def _decays(x: Tensor, passed: Any) -> Tensor:
    """The decay factor after that many positions, for each head and all chunks."""
    return torch.exp(-rates(x)[:, None] * passed)
