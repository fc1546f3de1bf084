"""Kimi Delta Attention in plain PyTorch: Gated DeltaNet with a separate decay for every key channel."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.conv import CausalConv
from archcalc.reference.delta import handed_on, one_step, solved, unit
from archcalc.reference.layers import run
from archcalc.reference.scan import Found, as_kernel, by_length, chunked, joined, keep, known


class KimiDelta(nn.Module):
    """Queries, keys and values behind one convolution; decays and gate by way of a narrow vector."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.path = ""
        self.heads, self.chunk, narrow = layer["heads"], layer["chunk"], layer["head_dim"]
        keys, values = self.heads * layer["head_dim"], self.heads * layer["v_dim"]
        self.mixed = (keys, keys, values)
        self.q, self.k, self.v = (nn.Linear(d_model, width, bias=False) for width in self.mixed)
        self.conv = CausalConv(sum(self.mixed), layer["conv"], False)
        self.rate = nn.Linear(d_model, self.heads, bias=False)
        self.dt_bias, self.A_log = nn.Parameter(torch.zeros(keys)), nn.Parameter(torch.zeros(self.heads))
        self.norm = nn.RMSNorm(layer["v_dim"])
        if layer["squeeze"]:
            for name, width in (("forget", keys), ("gate", values)):
                self.add_module(f"{name}_in", nn.Linear(d_model, narrow, bias=False))
                self.add_module(f"{name}_out", nn.Linear(narrow, width, bias=False))
        else:
            self.forget, self.gate = (nn.Linear(d_model, width, bias=False) for width in (keys, values))
        self.out = nn.Linear(values, d_model, bias=False)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        mixed = torch.cat((self.q(x), self.k(x), self.v(x)), dim=-1)
        q, k, v = (self._split(one) for one in F.silu(self.conv(mixed, cache, self.path)).split(self.mixed, dim=-1))
        start = known(cache, f"{self.path}.state")
        found, last = as_kernel(self._looked_up, q, k, v, self._made("forget", x), self.rate(x), start)
        keep(cache, f"{self.path}.state", last)
        gated = self.norm(found) * torch.sigmoid(self._split(self._made("gate", x)))
        return self.out(gated.flatten(2))

    def _made(self, name: str, x: Tensor) -> Tensor:
        """Directly, or by way of a narrow vector."""
        return run(self, name, run(self, f"{name}_out", run(self, f"{name}_in", x)))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1))

    def _looked_up(self, q: Tensor, k: Tensor, v: Tensor, forget: Tensor, rate: Tensor, start: Tensor | None) -> Found:
        """Queries and keys of one length; the decay of every channel as a logarithm."""
        decay = self._split(F.softplus(forget + self.dt_bias)) * -torch.exp(self.A_log)[:, None]
        look_up = by_length(q, start, in_chunks, one_step)
        return look_up(unit(q) * q.shape[-1] ** -0.5, unit(k), v, torch.sigmoid(rate), decay, start, self.chunk)


def in_chunks(q: Tensor, k: Tensor, v: Tensor, rate: Tensor, decay: Tensor, start: Tensor | None, chunk: int) -> Found:
    """As in Gated DeltaNet, but decays are applied to queries and keys, since they differ by channel."""
    length, rate = q.shape[1], rate[..., None]
    q, k, values, corrected = (chunked(one, chunk) for one in (q, k, v * rate, k * rate))
    passed = chunked(decay, chunk).cumsum(-2)
    since, until, to_come = torch.exp(passed), torch.exp(-passed), torch.exp(passed[..., -1:, :] - passed)
    q, corrected, before = q * since, corrected * since, k * until
    earlier = torch.ones(chunk, chunk, dtype=q.dtype, device=q.device).tril()
    system, scores = corrected @ before.mT * earlier, q @ before.mT * earlier
    new_values, reads = (solved(system, right) for right in (values, corrected))
    states, written = handed_on(reads, new_values, k * to_come, since[..., -1, :, None], start)
    found = q @ states[:, :, :-1] + scores @ written
    return joined(found, length), states[:, :, -1]
