"""Attention with learned vectors for distances, in plain PyTorch: Shaw's, Transformer-XL's and DeBERTa's."""

import math
from functools import reduce

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention, said_of, split_heads
from archcalc.reference.layers import Dropout, attended, run
from archcalc.reference.scan import Cache, known
from archcalc.reference.sight import hidden_from


class ShawAttention(Attention):
    """Scores q_i·(k_j + a_K)/√d and outputs Σ α·(v_j + a_V), with vectors a of the clipped distance j − i."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__(part, d_model, memory_width, options)
        settings = said_of(part, "shaw")
        rows = 2 * settings["distance"] + 1
        self.relative_keys = nn.Embedding(rows, self.head_dim)
        if settings["values"]:
            self.relative_values = nn.Embedding(rows, self.value_dim)

    def _core(self, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Tensor]) -> Tensor:
        distances = given[f"distances {self.part['name']}"][:, -k.shape[2] :]
        scores = by_position(q, self.relative_keys(distances).mT) / self.scale
        values = None
        if hasattr(self, "relative_values"):
            values = self.relative_values(distances)
        return attended(self.options, self._eager, q, k, v, hidden_from(self.part, given), scores, values)

    def _mixed(self, weights: Tensor, v: Tensor, values: Tensor | None = None) -> Tensor:
        found = super()._mixed(weights, v)
        if values is None:
            return found
        return found + by_position(weights, values)


def by_position(x: Tensor, vectors: Tensor) -> Tensor:
    """x of (batch, heads, queries, n) with (queries, n, m): a matrix product for each query, of all batches and heads.

    Copied in any case, or what is kept would depend on whether the batch is 1."""
    batch, heads, queries, _ = x.shape
    rows = x.permute(2, 0, 1, 3).clone(memory_format=torch.contiguous_format).view(queries, batch * heads, -1)
    return (rows @ vectors).view(queries, batch, heads, -1).permute(1, 2, 0, 3)


class SegmentAttention(Attention):
    """Transformer-XL's: scores ((q + u)·k + (q + v)·r)/√d, with keys and values of a memory of earlier segments and of
    this one, a key r of each distance, and biases u and v that every query is given."""

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


class PositionGate(nn.Linear):
    """A factor of (batch, heads, positions), by each head's part of x: two sigmoids of sums of four numbers."""

    def __init__(self, heads: int, d_model: int) -> None:
        super().__init__(d_model // heads, 8)
        self.heads, self.constant = heads, nn.Parameter(torch.ones(heads))

    def forward(self, x: Tensor) -> Tensor:
        made = super().forward(x.view(*x.shape[:2], self.heads, -1))
        first, second = torch.sigmoid(made.view(*made.shape[:-1], 2, 4).sum(-1)).transpose(1, 2).unbind(-1)
        found: Tensor = first * (second * self.constant[:, None] - 1) + 2
        return found


class GatedAttention(Attention):
    """WavLM's: relative positions, whose bias a gate of every query multiplies."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__(part, d_model, memory_width, options)
        self.position_gate = PositionGate(self.heads, d_model)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None = None) -> Tensor:
        return super().forward(x, {**given, "read": x}, cache)

    def _bias(self, given: dict[str, Tensor], q: Tensor, k: Tensor) -> Tensor | None:
        bias = super()._bias(given, q, k)
        assert bias is not None
        found: Tensor = self.position_gate(given["read"])[..., None] * bias
        return found


class Distances(nn.Module):
    """A vector for every distance to either side, for all blocks of a stack."""

    def __init__(self, settings: Config, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2 * settings["buckets"], width))
        if settings["norm"]:
            self.norm = nn.LayerNorm(width)

    def forward(self) -> Tensor:
        return run(self, "norm", self.weight)


def distance_rows(settings: Config, length: int, device: torch.device) -> Tensor:
    """The row of a query's distance to a key: near ones each their own, far ones by their logarithm."""
    places = torch.arange(length, device=device)
    distance, buckets, longest = places[:, None] - places[None, :], settings["buckets"], settings["length"] or 0
    if longest > buckets:
        near = buckets // 2
        steps = torch.log(distance.abs().clamp(min=1) / near) / math.log((longest - 1) / near) * (near - 1)
        far = (torch.ceil(steps).long() + near) * distance.sign()
        distance = torch.where(distance.abs() <= near, distance, far)
    return (distance + buckets).clamp(0, 2 * buckets - 1)


class DisentangledAttention(Attention):
    """DeBERTa's: score(i, j) = q_i·k_j + q_i·key(distance) + k_j·query(distance), over √((1 + terms) · head_dim)."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__(part, d_model, memory_width, options)
        settings = said_of(part, "disentangled")
        self.terms = settings["terms"]
        self.scale = math.sqrt((1 + len(self.terms)) * self.head_dim)
        self.table_dropout = Dropout(part["dropout"])
        for name in settings["project"]:
            width, biased = self.heads * self.head_dim, name in part["bias"]
            self.add_module(f"position_{name}", nn.Linear(d_model, width, bias=biased))

    def _core(self, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Tensor]) -> Tensor:
        """Queries and keys are read twice: laid out once, so that they are kept once."""
        return super()._core(q.contiguous(), k.contiguous(), v, given)

    def _bias(self, given: dict[str, Tensor], q: Tensor, k: Tensor) -> Tensor | None:
        """Both are looked up among the products with every distance: distances from key to query are those from query
        to key, transposed."""
        if not self.terms:
            return None
        table = self.table_dropout(given[f"table {self.part['name']}"])
        rows = given[f"distances {self.part['name']}"]
        found = {
            "c2p": lambda: self._picked(q, table, "k", rows),
            "p2c": lambda: self._picked(k, table, "q", rows.mT).mT,
        }
        return reduce(torch.add, [found[term]() / self.scale for term in self.terms])

    def _picked(self, content: Tensor, table: Tensor, name: str, rows: Tensor) -> Tensor:
        """Distances are projected on their own, or by what projects words."""
        batch, heads = content.shape[:2]
        projection = self._modules.get(f"position_{name}") or self.get_submodule(name).forward
        projected = projection(table)
        vectors = split_heads(projected[None], self.head_dim).transpose(1, 2).repeat(batch, 1, 1, 1)
        return (content @ vectors.mT).gather(-1, rows.expand(batch, heads, *rows.shape))
