"""Linear attention in plain PyTorch, of two kinds.

Kernel attention is φ(q)·Σ φ(k)vᵀ over φ(q)·Σ φ(k), the sums up to each position if it is causal; Lightning attention
has a fixed decay rate per head.
"""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention, split_heads
from archcalc.reference.layers import ACTIVATIONS, recomputed
from archcalc.reference.positions import rotate
from archcalc.reference.scan import Cache, Found, as_kernel, behind_state, known

# what softmax attention alone may have
NOT_HERE = {"gate": "", "out_norm": "", "qk_norm": None, "v_norm": None, "sinks": False}
NEVER_ZERO = 1e-6  # where no feature of any key answers a query
Sums = tuple[Tensor, Tensor]  # of features, and of features times values


class Poly2(torch.autograd.Function):
    """All products that (q·k + 1)² is made of: 1, √2·x_i, x_i² and √2·x_i·x_j. Only x is kept for the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        rows, columns = torch.triu_indices(x.shape[-1], x.shape[-1], 1, device=x.device)
        pairs = math.sqrt(2) * x[..., rows] * x[..., columns]
        return torch.cat((torch.ones_like(x[..., :1]), math.sqrt(2) * x, x * x, pairs), dim=-1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,), (gradient,) = ctx.saved_tensors, gradients
        width = x.shape[-1]
        rows, columns = torch.triu_indices(width, width, 1, device=x.device)
        linear, squares, pairs = gradient[..., 1:].split((width, width, len(rows)), dim=-1)
        found = math.sqrt(2) * linear + 2 * x * squares
        found = found.index_add(-1, rows, math.sqrt(2) * pairs * x[..., columns])
        return found.index_add(-1, columns, math.sqrt(2) * pairs * x[..., rows])


FEATURES = {"poly2": Poly2.apply, "elu": lambda x: nn.functional.elu(x) + 1, "relu": nn.functional.relu}


def is_state(part: Config) -> bool:
    """Whether a part is kernel attention whose sums grow along the sequence, as a state does."""
    return part["type"] == "attention" and part["feature"] != "softmax" and part["sight"]["causal"]


class KernelAttention(Attention):
    """q, k, v and out as in softmax attention, with a feature map in the place of scores."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__({**NOT_HERE, **part}, d_model, memory_width, options)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None = None) -> Tensor:
        looked_at, padding = given.get("memory"), given.get("memory padding")
        if not self.part["cross"]:
            looked_at, padding = x, given.get("own padding")
        total, state = known(cache, f"{self.path}.sum"), known(cache, f"{self.path}.state")
        before = None if total is None or state is None else (total, state)
        q = split_heads(self.q(x), self.head_dim).transpose(1, 2)
        k = v = None
        if before is None or not self.part["cross"]:  # the encoder's output is summed up once for all tokens
            projected = (self.k, self.head_dim), (self.v, self.value_dim)
            k, v = (split_heads(layer(looked_at), width).transpose(1, 2) for layer, width in projected)
        rotation = [given[f"{name} {self.part['name']}"] for name in ("cosines", "sines") if self.part["rotated"]]
        core = partial(self._core_of, before)
        if self.options["recompute"] == "core" and not is_state(self.part):  # a kernel keeps no more anyway
            found = recomputed(lambda *tensors: core(*tensors)[0], q, k, v, padding, *rotation)
        else:
            found, sums = core(q, k, v, padding, *rotation)
            if cache is not None:
                cache.keep(f"{self.path}.sum", sums[0])
                cache.keep(f"{self.path}.state", sums[1])
        return self.out(found.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))

    def _core_of(
        self,
        before: Sums | None,
        q: Tensor,
        k: Tensor | None,
        v: Tensor | None,
        hidden: Tensor | None,
        *rotation: Tensor,
    ) -> tuple[Tensor, Sums]:
        if is_state(self.part):
            found, total, state = as_kernel(partial(self._one_by_one, before), q, k, v, hidden, *rotation)
            return found, (total, state)
        plain, turned = self._features(q, rotation)
        if k is None or v is None:
            assert before is not None
            return self._asked(plain, turned, before), before
        keys, turned_keys = self._of_keys(k, hidden, rotation)
        sums = keys.sum(dim=2), turned_keys.mT @ v.contiguous()
        return self._asked(plain, turned, sums), sums

    def _of_keys(self, k: Tensor, padding: Tensor | None, rotation: tuple[Tensor, ...]) -> Sums:
        """What is padded adds nothing to the sums."""
        keys, turned = self._features(k, rotation)
        if padding is None:
            return keys, turned
        return keys.masked_fill(padding.mT, 0.0), turned.masked_fill(padding.mT, 0.0)

    def _features(self, x: Tensor, rotation: tuple[Tensor, ...]) -> Sums:
        """For the normaliser and for the numerator: (q·k + 1)² sees a rotation itself, other features are turned."""
        x, made = x.contiguous(), FEATURES[self.part["feature"]]
        if rotation and self.part["feature"] == "poly2":
            x, rotation = rotate(x, *rotation), ()
        features = made(x)
        return features, rotate(features, *rotation) if rotation else features

    def _asked(self, plain: Tensor, turned: Tensor, sums: Sums) -> Tensor:
        total, state = sums
        if self.kv_heads != self.heads:
            total, state = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (total, state))
        return (turned @ state) / (plain @ total[..., None] + NEVER_ZERO)

    def _one_by_one(
        self, before: Sums | None, q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, *rotation: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Every position after what it adds to the sums; then the sums."""
        plain, turned = self._features(q, rotation)
        keys, turned_keys = self._of_keys(k, padding, rotation)
        total, state = before or (torch.zeros_like(keys[:, :, 0]), turned_keys[:, :, :1].mT * 0 * v[:, :, :1])
        found = []
        for place in range(plain.shape[2]):
            here = slice(place, place + 1)
            total = total + keys[:, :, place]
            state = state + turned_keys[:, :, here].mT @ v[:, :, here]
            found.append(self._asked(plain[:, :, here], turned[:, :, here], (total, state)))
        return torch.cat(found, dim=2), total, state


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
