"""Transformer-XL in plain PyTorch: a memory of earlier segments, and relative positions with two biases."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention, said_of, split_heads
from archcalc.reference.cache import Cache
from archcalc.reference.layers import attended
from archcalc.reference.scan import known
from archcalc.reference.sight import hidden_from


class HeadBiases(nn.Module):
    """u and v: what every query is given for its scores with contents, and with positions."""

    def __init__(self, heads: int, head_dim: int) -> None:
        super().__init__()
        self.content_bias = nn.Parameter(torch.zeros(heads, head_dim))
        self.position_bias = nn.Parameter(torch.zeros(heads, head_dim))


class SegmentAttention(Attention):
    """Scores ((q + u)·k + (q + v)·r)/√d, with keys and values of memory and segment, and a key r of each distance."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__(part, d_model, memory_width, options)
        settings = said_of(part, "transformer-xl")
        self.longest: int = settings["memory"]
        self.position_k = nn.Linear(d_model, self.heads * self.head_dim, bias=False)
        for which in () if settings["shared"] else ("content", "position"):
            self.register_parameter(f"{which}_bias", nn.Parameter(torch.zeros(self.heads, self.head_dim)))

    def _keys_and_values(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None) -> tuple[Tensor, Tensor]:
        """Of memory and segment, the last of which are the memory of the next segment."""
        kept = known(cache, f"{self.path}.memory")
        if kept is None:  # zeros before the first segment, as in the authors' TensorFlow code
            kept = x.new_zeros(x.shape[0], self.longest, x.shape[2])
        both = torch.cat((kept.detach(), x), dim=1)
        if cache is not None and cache.forgets:
            cache.keep(f"{self.path}.memory", both[:, -self.longest :].clone())
        elif cache is not None:
            cache.keep(f"{self.path}.memory", both)
        k, v = self._normed("k_norm", self.k(both)), split_heads(self.v(both), self.value_dim)
        return k.transpose(1, 2), v.transpose(1, 2)

    def _core(self, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Tensor]) -> Tensor:
        name = self.part["name"]
        u, w = (self._bias_on(which, given) for which in ("content", "position"))
        encodings = given[f"encodings {name}"][-k.shape[2] :]
        scores = self._by_position(q + w[:, None], encodings) / self.scale
        return attended(self.options, self._eager, q + u[:, None], k, v, hidden_from(self.part, given), scores)

    def _bias_on(self, which: str, given: dict[str, Tensor]) -> Tensor:
        """The stack's, or this layer's own."""
        shared = given.get(f"{which} bias {self.part['name']}")
        if shared is None:
            return self.get_parameter(f"{which}_bias")
        return shared

    def _by_position(self, q: Tensor, encodings: Tensor) -> Tensor:
        """Queries with the key of every distance, one product for each head, shifted to the places of keys."""
        batch, heads, queries, width = q.shape
        keys = self.position_k(encodings).view(-1, heads, width).permute(1, 2, 0)
        rows = q.transpose(0, 1).clone(memory_format=torch.contiguous_format).view(heads, batch * queries, width)
        return shifted((rows @ keys).view(heads, batch, queries, -1)).transpose(0, 1)


def shifted(scores: Tensor) -> Tensor:
    """Row i of n moved n − 1 − i places to the left: a zero in front of each, then all numbers read in longer rows."""
    *others, rows, columns = scores.shape
    padded = nn.functional.pad(scores, (1, 0)).view(*others, columns + 1, rows)
    return padded[..., 1:, :].view(*others, rows, columns)
