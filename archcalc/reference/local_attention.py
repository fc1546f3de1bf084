"""Attention in chunks, each beside the positions around it, with scores by distance (Gemma's audio towers)."""

import math

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.maps import Build, Signals


class LocalAttention(nn.Module):
    """A position sees so many back and so many ahead, itself among neither."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.config, width = config, config["width"]
        for name in ("q", "k", "v", "relative", "out"):
            self.add_module(name, nn.Linear(width, width, bias=False))
        self.scale = nn.Parameter(torch.zeros(width // config["heads"]))

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        c, x, length = self.config, x.contiguous(), x.shape[1]
        chunk, back, ahead = c["chunk"], c["back"], c["ahead"]
        chunks = math.ceil(length / chunk)
        q, k, v = (layer(x).unflatten(-1, (c["heads"], -1)) for layer in (self.q, self.k, self.v))
        q = F.pad(q * F.softplus(self.scale), (0, 0, 0, 0, 0, chunks * chunk - length))
        q = q.unflatten(1, (chunks, chunk)).permute(3, 0, 1, 2, 4).contiguous()  # heads, samples, chunks, places, width
        ends = (0, 0, 0, 0, back, chunks * chunk - length + ahead)
        k, v = (F.pad(each, ends).unfold(1, chunk + back + ahead, chunk) for each in (k, v))
        k, v = (each.permute(2, 0, 1, 4, 3).contiguous() for each in (k, v))
        scores = q @ k.transpose(-1, -2) + self._by_distance(q, x)
        if c["softcap"]:
            scores = torch.tanh(scores / 50) * 50
        weights = scores.masked_fill(self._hidden(length, chunks, x.device), -1e9).softmax(dim=-1)
        found = (weights @ v).permute(1, 2, 3, 0, 4).reshape(x.shape[0], chunks * chunk, -1)
        out: Tensor = self.out(found[:, :length].clone(memory_format=torch.contiguous_format))
        return out

    def _by_distance(self, q: Tensor, x: Tensor) -> Tensor:
        """Queries with the vector of every distance, each row moved to its place."""
        heads, samples, chunks, chunk, width = q.shape
        seen = self.config["chunk"] + self.config["back"] + self.config["ahead"]
        encodings = self.relative(_sinusoids(seen // 2 + 1, x)).unflatten(-1, (heads, width))
        found = torch.bmm(q.flatten(1, 3), encodings.permute(1, 2, 0))
        padded = F.pad(found, (0, seen + 1 - found.shape[-1])).view(heads, samples, chunks, -1)
        return padded[..., : chunk * seen].unflatten(-1, (chunk, seen))

    def _hidden(self, length: int, chunks: int, device: torch.device) -> Tensor:
        """True where a position does not see another one: (chunks, places, places around)."""
        c = self.config
        seen = torch.arange(c["chunk"] + c["back"] + c["ahead"], device=device) - c["back"]
        start = (torch.arange(chunks, device=device) * c["chunk"])[:, None, None]
        own = torch.arange(c["chunk"], device=device)[None, :, None]
        place, away = start + seen, seen - own
        return (place < 0) | (place >= length) | (away < -c["back"]) | (away > c["ahead"])


def _sinusoids(number: int, x: Tensor) -> Tensor:
    """Of the largest distance first."""
    width = x.shape[-1] // 2
    steps = torch.exp(torch.arange(width, device=x.device) * (-math.log(10000.0) / max(width - 1, 1)))
    angles = torch.arange(number - 1, -1, -1, device=x.device)[:, None] * steps
    return torch.cat([angles.sin(), angles.cos()], dim=-1).to(x.dtype)
