"""A decoder that does in PyTorch what litgpt's code does with a model: one matrix for queries, keys and values,
adapters with dropout in front, a rotation that joins its result with nothing, RMS norms in fp32, logits in chunks."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from archcalc.reference.lifetimes import Lifetimes, Peak, Phase, peaks
from archcalc.verify.hf.as_on_a_gpu import attention

CHUNK = 128


@dataclass(frozen=True)
class Sizes:
    """`adapted`: which of queries, keys and values have adapters."""

    vocab: int = 320
    width: int = 64
    heads: int = 4
    groups: int = 4
    inner: int = 96
    layers: int = 3
    rank: int = 4
    adapted: tuple[bool, bool, bool] = (True, False, True)
    interleaved: bool = True

    @property
    def head(self) -> int:
        return self.width // self.heads

    @property
    def parts(self) -> tuple[int, int, int]:
        return self.width, self.groups * self.head, self.groups * self.head


class Norm(nn.Module):
    """In fp32, then times the weight in 16 bits."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-5)
        return (wide * scale).to(x.dtype) * self.weight


class Projections(nn.Module):
    """Queries, keys and values with their adapters."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.adapted = [size for size, on in zip(sizes.parts, sizes.adapted, strict=True) if on]
        self.weight = nn.Parameter(torch.empty(sum(sizes.parts), sizes.width), requires_grad=False)
        self.down = nn.Parameter(torch.empty(len(self.adapted) * sizes.rank, sizes.width))
        self.up = nn.Parameter(torch.empty(sum(self.adapted), sizes.rank))
        self.places = torch.zeros(sum(self.adapted), dtype=torch.long, device="meta")

    def forward(self, x: Tensor) -> Tensor:
        whole = functional.linear(x, self.weight)
        hidden = functional.linear(torch.native_dropout(x, 0.05, True)[0], self.down)
        change = self._up(hidden.mT).mT
        if len(self.adapted) < len(self.sizes.parts):
            zeros = change.new_zeros(*change.shape[:-1], whole.shape[-1])
            change = zeros.index_copy_(-1, self.places, change)
        return whole + change * 2

    def _up(self, hidden: Tensor) -> Tensor:
        if self.sizes.groups == self.sizes.heads:
            return functional.conv1d(hidden, self.up[..., None], groups=len(self.adapted))
        parts = zip(hidden.chunk(len(self.adapted), 1), torch.split(self.up[..., None], self.adapted), strict=True)
        return torch.cat([functional.conv1d(part, up) for part, up in parts], 1)


class Block(nn.Module):
    """Attention and a gated feed-forward layer."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.first, self.second = Norm(sizes.width), Norm(sizes.width)
        self.projections = Projections(sizes)
        self.out = _frozen(sizes.width, sizes.width)
        self.gate, self.up = _frozen(sizes.width, sizes.inner), _frozen(sizes.width, sizes.inner)
        self.down = _frozen(sizes.inner, sizes.width)

    def forward(self, x: Tensor, tables: tuple[Tensor, Tensor]) -> Tensor:
        x = self._attend(self.first(x), tables) + x
        normed = self.second(x)
        found: Tensor = self.down(functional.silu(self.gate(normed)) * self.up(normed)) + x
        return found

    def _attend(self, x: Tensor, tables: tuple[Tensor, Tensor]) -> Tensor:
        batch, seq, width = x.shape
        taken = self._interleaved if self.sizes.interleaved else self._behind_each_other
        query, key, value = taken(self.projections(x), batch, seq)
        query, key = (_rotated(one, *tables) for one in (query, key))
        if not self.sizes.interleaved and key.shape != query.shape:
            key, value = (one.repeat_interleave(self.sizes.heads // self.sizes.groups, 1) for one in (key, value))
        found = attention(query, key, value, is_causal=True)
        answer: Tensor = self.out(found.transpose(1, 2).reshape(batch, seq, width))
        return answer

    def _interleaved(self, whole: Tensor, batch: int, seq: int) -> list[Tensor]:
        """Each group's queries, then its key and its value."""
        each, groups = self.sizes.heads // self.sizes.groups, self.sizes.groups
        seen = whole.view(batch, seq, groups, each + 2, self.sizes.head).permute(0, 2, 3, 1, 4)
        query, *others = torch.split(seen, [each, 1, 1], 2)
        shown = [one.expand(batch, groups, each, seq, self.sizes.head) for one in others]
        return [one.reshape(batch, -1, seq, self.sizes.head) for one in (query, *shown)]

    def _behind_each_other(self, whole: Tensor, batch: int, seq: int) -> list[Tensor]:
        parts = torch.split(whole, list(self.sizes.parts), -1)
        return [one.view(batch, seq, -1, self.sizes.head).transpose(1, 2) for one in parts]


class Twin(nn.Module):
    """The whole model; `forward` gives logits in chunks."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.table = nn.Embedding(sizes.vocab, sizes.width).requires_grad_(False)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.norm, self.head = Norm(sizes.width), _frozen(sizes.width, sizes.vocab)

    def forward(self, ids: Tensor, tables: tuple[Tensor, Tensor]) -> list[Tensor]:
        x = self.table(ids)
        for block in self.blocks:
            x = block(x, tables)
        x = self.norm(x)
        return [self.head(part) for part in torch.split(x, CHUNK, 1)]


def _frozen(into: int, out: int) -> nn.Linear:
    return nn.Linear(into, out, bias=False).requires_grad_(False)


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return torch.cat(((x * cos + turned * sin).to(x.dtype), x[..., 2 * half :]), -1)


def trained(sizes: Sizes, batch: int, seq: int) -> dict[Phase, Peak]:
    """The peaks of two iterations, as a loop runs them that holds the logits until it has new ones."""
    with torch.device("meta"):
        model = Twin(sizes).to(torch.bfloat16)
        tables = (torch.empty(seq, sizes.head), torch.empty(seq, sizes.head))
        ids = torch.zeros(batch, seq, dtype=torch.long)
    recorder = Lifetimes("meta")
    for tensor in model.parameters():
        recorder.add(tensor, "parameter")
    logits: list[Tensor] = []
    with recorder:
        for iteration in range(2):
            recorder.begin("forward", iteration)
            logits = _in_fp32(model(ids, tables))
            losses = [_loss(part, ids) for part in logits]
            recorder.begin("backward", iteration)
            torch.autograd.backward(torch.stack(losses).sum())
            del losses
            for tensor in model.parameters():
                tensor.grad = None
    return {peak.phase: peak for peak in peaks(recorder.events)}


def _in_fp32(logits: list[Tensor]) -> list[Tensor]:
    """As Lightning converts what a model returns."""
    return [part.float() for part in logits]


def _loss(logits: Tensor, ids: Tensor) -> Tensor:
    return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), ids[:, : logits.shape[1]].reshape(-1))


def made(peak: Peak, least: int) -> list[int]:
    """Bytes of all storages that are not small, sorted, weights left out."""
    return sorted(one.bytes for one in peak.alive if one.bytes >= least and one.op != "parameter")
