"""Kernel attention in plain PyTorch: φ(q)·Σ φ(k)vᵀ over φ(q)·Σ φ(k), the sums up to each position if it is causal."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention, split_heads
from archcalc.reference.layers import recomputed
from archcalc.reference.positions import rotate
from archcalc.reference.scan import Cache, as_kernel, known

NOT_HERE = {"gate": "", "out_norm": "", "qk_norm": None, "sinks": False}  # what softmax attention alone may have
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
