"""Gated DeltaNet and Kimi Delta Attention in plain PyTorch: a state matrix per head, updated by the gated delta rule.

DeltaNet forgets at one rate per head, Kimi's at a rate of its own for every key channel.
"""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.conv import CausalConv
from archcalc.reference.layers import run
from archcalc.reference.scan import Found, behind_state, by_length, chunked, decays_between, joined, passed_within

NEVER_ZERO = 1e-6  # the squared length of a key or a query


class DeltaNet(nn.Module):
    """One projection for queries, keys, values and gate, another for the rates; a norm of every head's values."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.path = ""
        heads, v_heads, self.chunk = layer["heads"], layer["v_heads"], layer["chunk"]
        keys, values = heads * layer["head_dim"], v_heads * layer["v_dim"]
        self.heads, self.v_heads, self.mixed = heads, v_heads, (keys, keys, values)
        self.add_module("in", nn.Linear(d_model, 2 * keys + 2 * values, bias=False))
        self.rates = nn.Linear(d_model, 2 * v_heads, bias=False)
        self.conv = CausalConv(2 * keys + values, layer["conv"], False)
        self.dt_bias, self.A_log = (nn.Parameter(torch.zeros(v_heads)) for _ in range(2))
        self.norm = nn.RMSNorm(layer["v_dim"])
        self.out = nn.Linear(values, d_model, bias=False)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        mixed, gate = run(self, "in", x).split((sum(self.mixed), self.mixed[2]), dim=-1)
        rate, decay = self.rates(x).chunk(2, dim=-1)
        q, k, v = F.silu(self.conv(mixed, cache, self.path)).split(self.mixed, dim=-1)
        q, k, v = (one.unflatten(-1, (n, -1)) for one, n in ((q, self.heads), (k, self.heads), (v, self.v_heads)))
        found = behind_state(cache, self.path, self._looked_up, q, k, v, rate, decay)
        gated = self.norm(found) * F.silu(gate.unflatten(-1, (self.v_heads, -1)))
        return self.out(gated.flatten(2))

    def _looked_up(self, q: Tensor, k: Tensor, v: Tensor, rate: Tensor, decay: Tensor, start: Tensor | None) -> Found:
        """Queries and keys of one length, shown to all value heads of their group; the decay as a logarithm."""
        q, k = (unit(one).repeat_interleave(self.v_heads // self.heads, dim=2) for one in (q, k))
        decay = -torch.exp(self.A_log) * F.softplus(decay + self.dt_bias)
        look_up = by_length(v, start, in_chunks, one_step)
        return look_up(q * q.shape[-1] ** -0.5, k, v, torch.sigmoid(rate), decay, start, self.chunk)


def unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + NEVER_ZERO)


def one_step(q: Tensor, k: Tensor, v: Tensor, rate: Tensor, decay: Tensor, start: Tensor, chunk: int) -> Found:
    """The matrix of every head, (head_dim, v_dim), decayed, all at one rate or each row at its own; then what it gave
    wrongly for this key is put right."""
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))  # (batch, heads, 1, width)
    state = start * torch.exp(decay[:, 0]).reshape(*start.shape[:2], -1, 1)
    wrong = (v - k @ state) * rate[:, 0][..., None, None]
    state = state + k.mT @ wrong
    return (q @ state).transpose(1, 2), state


def in_chunks(q: Tensor, k: Tensor, v: Tensor, rate: Tensor, decay: Tensor, start: Tensor | None, chunk: int) -> Found:
    """All corrections of a chunk at once, by a triangular system: what one token writes is known to the next."""
    length, rate = q.shape[1], rate[..., None]
    q, k, values, corrected = (chunked(one, chunk) for one in (q, k, v * rate, k * rate))
    passed = passed_within(decay, chunk)
    since, to_come = torch.exp(passed)[..., None], torch.exp(passed[..., -1:] - passed)[..., None]
    between = decays_between(passed)
    system, scores = corrected @ k.mT * between, q @ k.mT * between
    new_values, reads = (solved(system, right) for right in (values, corrected * since))
    states, written = handed_on(reads, new_values, k * to_come, since[..., -1:, :], start)
    found = (q * since) @ states[:, :, :-1] + scores @ written
    return joined(found, length), states[:, :, -1]


def solved(system: Tensor, right: Tensor) -> Tensor:
    return torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)


def handed_on(reads: Tensor, values: Tensor, k: Tensor, decay: Tensor, start: Tensor | None) -> Found:
    """The matrix before each chunk and after the last, and what each chunk writes: what was not known before it."""
    state = start
    if state is None:
        state = values.new_zeros(*values.shape[:2], k.shape[-1], values.shape[-1])
    states, written = [state], []
    for index in range(values.shape[2]):
        written.append(values[:, :, index] - reads[:, :, index] @ state)
        state = state * decay[:, :, index] + k[:, :, index].mT @ written[-1]
        states.append(state)
    return torch.stack(states, dim=2), torch.stack(written, dim=2)


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
        for name, width in (("forget", keys), ("gate", values)):
            if name not in layer["squeeze"]:
                self.add_module(name, nn.Linear(d_model, width, bias=False))
                continue
            self.add_module(f"{name}_in", nn.Linear(d_model, narrow, bias=False))
            self.add_module(f"{name}_out", nn.Linear(narrow, width, bias=False))
        self.out = nn.Linear(values, d_model, bias=False)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        mixed = torch.cat((self.q(x), self.k(x), self.v(x)), dim=-1)
        q, k, v = (self._split(one) for one in F.silu(self.conv(mixed, cache, self.path)).split(self.mixed, dim=-1))
        found = behind_state(cache, self.path, self._looked_up, q, k, v, self._made("forget", x), self.rate(x))
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
        look_up = by_length(q, start, in_chunks_by_channel, one_step)
        return look_up(unit(q) * q.shape[-1] ** -0.5, unit(k), v, torch.sigmoid(rate), decay, start, self.chunk)


def in_chunks_by_channel(
    q: Tensor, k: Tensor, v: Tensor, rate: Tensor, decay: Tensor, start: Tensor | None, chunk: int
) -> Found:
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
