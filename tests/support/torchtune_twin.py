"""A decoder that does in PyTorch what torchtune's code does with a model: norms and rotations in fp32, keys and values
copied for every head, fp32 logits or a list of chunks that are cast one at a time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from archcalc.reference.lifetimes import Lifetimes, Peak, Phase, peaks
from archcalc.verify.hf.as_on_a_gpu import attention


@dataclass(frozen=True)
class Sizes:
    vocab: int = 320
    width: int = 64
    heads: int = 4
    groups: int = 2
    inner: int = 96
    layers: int = 3
    chunks: int = 1

    @property
    def head(self) -> int:
        return self.width // self.heads


class Norm(nn.Module):
    """In fp32, then times the weight in 16 bits."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x) * self.weight


class Block(nn.Module):
    """Attention and a gated feed-forward layer."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.first, self.second = Norm(sizes.width), Norm(sizes.width)
        outs = (sizes.width, sizes.groups * sizes.head, sizes.groups * sizes.head)
        self.query, self.key, self.value = (nn.Linear(sizes.width, out, bias=False) for out in outs)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)
        self.gate, self.up = (nn.Linear(sizes.width, sizes.inner, bias=False) for _ in range(2))
        self.down = nn.Linear(sizes.inner, sizes.width, bias=False)

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        x = self._attend(self.first(x), table) + x
        normed = self.second(x)
        found: Tensor = self.down(functional.silu(self.gate(normed)) * self.up(normed)) + x
        return found

    def _attend(self, x: Tensor, table: Tensor) -> Tensor:
        batch, seq, _ = x.shape
        query, key, value = (one(x).view(batch, seq, -1, self.sizes.head) for one in (self.query, self.key, self.value))
        turned = (_rotated(query, table), _rotated(key, table), value)
        query, key, value = (one.transpose(1, 2) for one in turned)
        found = attention(query, self._for_every_head(key), self._for_every_head(value), is_causal=True)
        answer: Tensor = self.out(found.transpose(1, 2).contiguous().view(batch, seq, -1))
        return answer

    def _for_every_head(self, x: Tensor) -> Tensor:
        each = self.sizes.heads // self.sizes.groups
        batch, groups, seq, head = x.shape
        return x.unsqueeze(2).expand(batch, groups, each, seq, head).flatten(1, 2) if each > 1 else x


def _rotated(x: Tensor, table: Tensor) -> Tensor:
    """Even and odd numbers turned against each other."""
    even, odd = x.float().view(*x.shape[:-1], -1, 2).unbind(-1)
    cos, sin = table[:, None, :, 0], table[:, None, :, 1]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], -1).flatten(3).type_as(x)


class Twin(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.chunks = sizes.chunks
        self.table = nn.Embedding(sizes.vocab, sizes.width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.norm, self.head = Norm(sizes.width), nn.Linear(sizes.width, sizes.vocab, bias=False)

    def forward(self, ids: Tensor, table: Tensor) -> list[Tensor]:
        x = self.table(ids)
        for block in self.blocks:
            x = block(x, table)
        x = self.norm(x)
        if self.chunks == 1:
            return [self.head(x).float()]
        return [self.head(part) for part in x.chunk(self.chunks, 1)]


def trained(sizes: Sizes, batch: int, seq: int) -> dict[Phase, Peak]:
    """The peaks of two steps of a loop that lets go of the logits in front of the backward pass."""
    with torch.device("meta"):
        model = Twin(sizes).to(torch.bfloat16)
        table, ids = torch.empty(seq, sizes.head // 2, 2), torch.zeros(batch, seq, dtype=torch.long)
    recorder = Lifetimes("meta")
    for tensor in model.parameters():
        recorder.add(tensor, "parameter")
    with recorder:
        for step in range(2):
            recorder.begin("forward", step)
            loss = _loss(model(ids, table), ids)
            recorder.begin("backward", step)
            torch.autograd.backward(loss)
            recorder.begin("step", step)
            for tensor in model.parameters():
                tensor.grad = None
    return {peak.phase: peak for peak in peaks(recorder.events)}


def _loss(logits: list[Tensor], ids: Tensor) -> Tensor:
    targets = ids.chunk(len(logits), 1)
    parts = [
        functional.cross_entropy(one.reshape(-1, one.shape[-1]).float(), target.reshape(-1), reduction="sum")
        for one, target in zip(logits, targets, strict=True)
    ]
    return torch.stack(parts).sum()


def made(peak: Peak, least: int) -> list[int]:
    """Bytes of all storages that are not small, sorted, weights left out."""
    return sorted(one.bytes for one in peak.alive if one.bytes >= least and one.op != "parameter")
